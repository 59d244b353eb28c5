import type { SearchSubOrganizationsResponse } from '@custos/sdk';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useState } from 'react';
import { problemOf } from '../../api/problem.ts';
import { useApiPages } from '../../api/use-api.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Empty } from '../../kit/empty.tsx';
import { SearchField } from '../../kit/field.tsx';
import { Hash } from '../../kit/hash.tsx';
import { HeaderButton } from '../../kit/header-button.tsx';
import { Page } from '../../kit/page.tsx';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { Skeleton } from '../../kit/skeleton.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { VirtualTable } from '../../kit/virtual-table.tsx';
import { count } from '../../lib/amounts.ts';
import { chooseOrganization, useOrganization } from '../../session/organization.ts';
import { CreateSubOrganizationDialog } from './create-dialog.tsx';
import styles from './sub-organizations.module.css';

type SubOrganization = SearchSubOrganizationsResponse['subOrganizations'][number];

export function SubOrganizationsPage() {
  const [text, setText] = useState('');
  const [isCreating, setIsCreating] = useState(false);
  const asked = useDeferredValue(text.trim());
  const { isReadOnly } = useOrganization();
  const navigate = useNavigate();
  const off = useOffReason();
  const { items, query, hasMore, loadMore } = useApiPages(
    'searchSubOrganizations',
    asked === '' ? {} : { text: asked },
    ({ subOrganizations }) => subOrganizations,
    { enabled: !isReadOnly },
  );
  const open = ({ organizationId, name }: SubOrganization): void => {
    chooseOrganization({ organizationId, name });
    void navigate({ to: '/wallets' });
  };
  const columns: readonly Column<SubOrganization>[] = [
    {
      id: 'name',
      header: 'Name',
      width: 'minmax(0, 2fr)',
      cell: (one) => (
        <button type="button" className={styles.name} tabIndex={-1} onClick={() => open(one)}>
          <bdi>{one.name}</bdi>
        </button>
      ),
    },
    {
      id: 'id',
      header: 'Id',
      width: 'minmax(0, 1fr)',
      narrow: 'hide',
      cell: ({ organizationId }) => <Hash value={organizationId} what="organization id" />,
    },
    { id: 'users', header: 'Users', width: '90px', align: 'right', cell: ({ userCount }) => count(userCount, 'user') },
    {
      id: 'wallets',
      header: 'Wallets',
      width: '90px',
      align: 'right',
      cell: ({ walletCount }) => count(walletCount, 'wallet'),
    },
    {
      id: 'created',
      header: 'Created',
      width: '140px',
      align: 'right',
      cell: ({ createdAt }) => <Time time={createdAt} inRow />,
    },
  ];
  return (
    <Page
      title="Sub-organizations"
      fill
      actions={
        <HeaderButton
          kind="ink"
          icon="plus"
          label="Create sub-organization"
          off={off}
          onClick={() => setIsCreating(true)}
        />
      }
    >
      <div className={styles.fill}>
        {isReadOnly ? (
          <Empty title="A sub-organization has none of its own" icon="tree">
            Go back to your own organization to see its sub-organizations.
          </Empty>
        ) : (
          <>
            <div className={styles.search}>
              <SearchField
                label="Name, email, phone, address or id"
                placeholder="Name, email, phone, address or id"
                value={text}
                onChange={setText}
              />
            </div>
            {query.error && <ProblemNote problem={problemOf(query.error)} onRetry={() => void query.refetch()} />}
            {query.isPending ? (
              <Skeleton rows={8} />
            ) : (
              <div className={styles.frame}>
                <VirtualTable
                  label="Sub-organizations"
                  columns={columns}
                  rows={items}
                  rowKey={({ organizationId }) => organizationId}
                  rowLabel={({ name }) => name}
                  onOpen={open}
                  hasMore={hasMore}
                  isLoadingMore={query.isFetchingNextPage}
                  onMore={loadMore}
                  empty={
                    <div className={styles.padded}>
                      {asked === '' ? (
                        <Empty
                          title="No sub-organizations yet"
                          icon="tree"
                          call={`await client.createSubOrganization({\n  subOrganizationName: 'Customer 1042',\n  rootQuorumThreshold: 1,\n  rootUsers: [{ userName: 'Jo', userEmail: 'jo@example.com', apiKeys: [], authenticators: [], oauthProviders: [] }],\n})`}
                        >
                          Each has users, wallets and a quorum of its own; you read it, and only its users change it.
                          Most are made by a program, one for each customer.
                        </Empty>
                      ) : (
                        <Empty title="Nothing is found" icon="search">
                          No sub-organization has this name, mail address, phone number, address or id.
                        </Empty>
                      )}
                    </div>
                  }
                />
              </div>
            )}
          </>
        )}
      </div>
      {isCreating && <CreateSubOrganizationDialog onClose={() => setIsCreating(false)} />}
    </Page>
  );
}
