import { useState } from 'react';
import { useApi } from '../../../api/use-api.ts';
import { useOffReason } from '../../../app/off-reason.ts';
import { Asked } from '../../../kit/asked.tsx';
import { Button, IconButton } from '../../../kit/button.tsx';
import { Card } from '../../../kit/card.tsx';
import { Empty } from '../../../kit/empty.tsx';
import { Menu } from '../../../kit/menu.tsx';
import { Select } from '../../../kit/select.tsx';
import { Table } from '../../../kit/table.tsx';
import { useSessionOrThrow } from '../../../session/session.ts';
import styles from '../policies.module.css';
import { MfaDialog } from './mfa-dialog.tsx';
import { type MfaPolicy, stepsInWords } from './mfa-model.ts';
import { RemoveDialog } from './remove-dialog.tsx';

type Opened =
  | { readonly act: 'create' }
  | { readonly act: 'edit'; readonly policy: MfaPolicy }
  | { readonly act: 'delete'; readonly policy: MfaPolicy };

/** Which proofs a user gives before an approval of theirs counts. */
export function MfaPolicies() {
  const me = useSessionOrThrow();
  const [userId, setUserId] = useState(me.userId);
  const users = useApi('listUsers').data?.users ?? [{ userId: me.userId, userName: me.userName }];
  const query = useApi('getMfaPolicies', { userId });
  const [opened, setOpened] = useState<Opened>();
  const off = useOffReason();
  const userName = users.find((user) => user.userId === userId)?.userName ?? '';
  const close = (): void => setOpened(undefined);
  return (
    <Card
      flush
      title="MFA policies"
      detail="proofs that a user gives before an approval counts"
      actions={
        <Button icon="plus" off={off} hideReason onClick={() => setOpened({ act: 'create' })}>
          New MFA policy
        </Button>
      }
    >
      <div className={styles.pick}>
        <Select
          label="User"
          value={userId}
          onChange={setUserId}
          options={users.map((user) => ({ value: user.userId, label: user.userName }))}
        />
      </div>
      <Asked query={query} rows={2} label="Loading the MFA policies">
        {({ mfaPolicies }) => (
          <Table
            label="MFA policies"
            rows={[...mfaPolicies].sort((one, other) => one.order - other.order)}
            rowKey={({ mfaPolicyId }) => mfaPolicyId}
            columns={[
              { id: 'order', header: 'Order', width: '70px', narrow: 'hide', cell: ({ order }) => order },
              {
                id: 'name',
                header: 'Policy',
                cell: ({ mfaPolicyName, requiredAuthenticationMethods, condition, notes }) => (
                  <>
                    <bdi className={styles.name}>{mfaPolicyName}</bdi>
                    <span className={styles.text}>{stepsInWords(requiredAuthenticationMethods)}</span>
                    <code className={`${styles.text} ${styles.code}`}>
                      {condition === '' ? 'for everything' : condition}
                    </code>
                    {notes && <bdi className={styles.text}>{notes}</bdi>}
                  </>
                ),
              },
              {
                id: 'more',
                header: 'Acts',
                hideHeader: true,
                width: '52px',
                narrow: 'keep',
                cell: (policy) => (
                  <Menu
                    trigger={<IconButton icon="more" label={`Acts on ${policy.mfaPolicyName}`} />}
                    items={[
                      {
                        id: 'edit',
                        label: 'Change',
                        icon: 'edit',
                        off,
                        onSelect: () => setOpened({ act: 'edit', policy }),
                      },
                      {
                        id: 'delete',
                        label: 'Delete',
                        icon: 'trash',
                        danger: true,
                        off,
                        onSelect: () => setOpened({ act: 'delete', policy }),
                      },
                    ]}
                  />
                ),
              },
            ]}
            empty={
              <Empty
                title={
                  <>
                    <bdi>{userName}</bdi> gives no further proofs
                  </>
                }
                icon="passkey"
                call={`await client.createMfaPolicy({\n  userId: '${userId}',\n  mfaPolicyName: 'A passkey for exports',\n  condition: "activity.action == 'EXPORT'",\n  requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] }],\n  order: 0,\n})`}
              >
                One stamp is enough for whatever policies allow. An MFA policy asks this user for more, step by step.
              </Empty>
            }
          />
        )}
      </Asked>
      {opened?.act === 'create' && <MfaDialog userId={userId} userName={userName} onClose={close} />}
      {opened?.act === 'edit' && (
        <MfaDialog userId={userId} userName={userName} policy={opened.policy} onClose={close} />
      )}
      {opened?.act === 'delete' && (
        <RemoveDialog
          method="deleteMfaPolicy"
          parameters={{ userId, mfaPolicyId: opened.policy.mfaPolicyId }}
          title={
            <>
              Delete <bdi>{opened.policy.mfaPolicyName}</bdi>
            </>
          }
          consequence={
            <>
              <bdi>{userName}</bdi> no longer gives these proofs. What waits already keeps its steps.
            </>
          }
          act="Delete MFA policy"
          onClose={close}
        />
      )}
    </Card>
  );
}
