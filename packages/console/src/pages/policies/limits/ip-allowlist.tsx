import { CustosError } from '@custos/sdk';
import { useState } from 'react';
import { problemOf } from '../../../api/problem.ts';
import { useApi } from '../../../api/use-api.ts';
import { useOffReason } from '../../../app/off-reason.ts';
import { Button } from '../../../kit/button.tsx';
import { Card } from '../../../kit/card.tsx';
import { Empty } from '../../../kit/empty.tsx';
import { ProblemNote } from '../../../kit/problem-note.tsx';
import { Select } from '../../../kit/select.tsx';
import { Skeleton } from '../../../kit/skeleton.tsx';
import { StatusMark } from '../../../kit/status-mark.tsx';
import { Table } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { shortHash } from '../../../lib/addresses.ts';
import styles from '../policies.module.css';
import { type Allowlist, IpDialog } from './ip-dialog.tsx';
import { RemoveDialog } from './remove-dialog.tsx';

const WHOLE = 'organization';

/** From where credentials may be used: one list for all, and one for a key that has its own. */
export function IpAllowlist() {
  const [subject, setSubject] = useState(WHOLE);
  const publicKey = subject === WHOLE ? undefined : subject;
  const query = useApi('getIpAllowlist', publicKey === undefined ? {} : { publicKey });
  const credentials = useApi('listCredentials').data?.credentials ?? [];
  const users = useApi('listUsers').data?.users ?? [];
  const nameOf = (userId: string): string => users.find((user) => user.userId === userId)?.userName ?? '';
  const [opened, setOpened] = useState<'edit' | 'delete'>();
  const off = useOffReason();
  const isNone = query.error instanceof CustosError && query.error.httpStatus === 404;
  const list = isNone ? undefined : query.data?.allowlist;
  const close = (): void => setOpened(undefined);
  return (
    <Card
      flush
      title="IP allowlist"
      detail="checked before anything else, for queries too"
      actions={
        <>
          {list !== undefined && list.rules.length > 0 && (
            <Button kind="quiet" off={off} hideReason onClick={() => setOpened('delete')}>
              Delete list
            </Button>
          )}
          <Button icon="edit" off={off} hideReason onClick={() => setOpened('edit')}>
            Change list
          </Button>
        </>
      }
    >
      <div className={styles.pick}>
        <Select
          label="List of"
          value={subject}
          onChange={setSubject}
          options={[
            { value: WHOLE, label: 'the organization' },
            ...credentials
              .filter(({ kind, publicKey: key }) => kind === 'API_KEY' && key !== undefined)
              .map(({ publicKey: key = '', name, userId }) => ({
                value: key,
                label: `${name} of ${nameOf(userId)}`,
                detail: shortHash(key),
              })),
          ]}
        />
      </div>
      {query.isPending ? (
        <Skeleton rows={2} label="Loading the list" />
      ) : query.error !== null && !isNone ? (
        <ProblemNote problem={problemOf(query.error)} onRetry={() => void query.refetch()} />
      ) : (
        <>
          <p className={styles.pick}>
            <State list={list} isKey={publicKey !== undefined} />
          </p>
          <Table
            label="Addresses that are let in"
            rows={list?.rules ?? []}
            rowKey={({ cidr }) => cidr}
            columns={[
              { id: 'cidr', header: 'Addresses', cell: ({ cidr }) => <code className={styles.code}>{cidr}</code> },
              { id: 'label', header: 'Label', cell: ({ label }) => <bdi>{label}</bdi> },
              {
                id: 'created',
                header: 'Added',
                width: '110px',
                align: 'right',
                cell: ({ createdAt }) => <Time inRow time={createdAt} />,
              },
            ]}
            empty={
              <Empty
                title="No addresses listed"
                icon="shield"
                call={`await client.setIpAllowlist({\n  enabled: true,\n  rules: [{ cidr: '203.0.113.0/24', label: 'office' }],\n  onEvaluationError: 'DENY',\n})`}
              >
                {publicKey === undefined
                  ? 'Credentials can be used from everywhere. Blocks of addresses that alone are let in will be listed here.'
                  : 'The key follows the list of the organization. Blocks of addresses for this key alone will be listed here.'}
              </Empty>
            }
          />
        </>
      )}
      {opened === 'edit' && <IpDialog publicKey={publicKey} list={list} onClose={close} />}
      {opened === 'delete' && (
        <RemoveDialog
          method="removeIpAllowlist"
          parameters={publicKey === undefined ? {} : { publicKey }}
          title="Delete the list"
          consequence={
            publicKey === undefined
              ? 'Credentials without a list of their own can then be used from everywhere.'
              : 'The key then follows the list of the organization.'
          }
          act="Delete list"
          onClose={close}
        />
      )}
    </Card>
  );
}

function State({ list, isKey }: { readonly list: Allowlist | undefined; readonly isKey: boolean }) {
  const isOn = list !== undefined && (isKey ? list.rules.length > 0 : list.enabled === true);
  if (!isOn) return <StatusMark tone="plain">{isKey ? 'no list of its own' : 'not enforced'}</StatusMark>;
  return (
    <>
      <StatusMark tone="allow">enforced</StatusMark>{' '}
      {list.onEvaluationError === 'ALLOW'
        ? 'A request whose address is not known is let in.'
        : 'A request whose address is not known is turned away.'}
    </>
  );
}
