import type { DescribePoliciesResponse, ListPoliciesResponse } from '@custos/sdk';
import { Link, useNavigate } from '@tanstack/react-router';
import { problemOf } from '../../api/problem.ts';
import { useApiPages } from '../../api/use-api.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { Empty } from '../../kit/empty.tsx';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { RiskMark } from '../../kit/risk-mark.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { Skeleton } from '../../kit/skeleton.tsx';
import { StatusMark } from '../../kit/status-mark.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Tag } from '../../kit/tag.tsx';
import { Time } from '../../kit/time.tsx';
import { count } from '../../lib/amounts.ts';
import styles from './policies.module.css';

type Listed = ListPoliciesResponse['policies'][number];
type Described = DescribePoliciesResponse['descriptions'][number];

interface Row {
  readonly policy: Listed;
  /** Undefined while it is not yet known. */
  readonly words: Described | undefined;
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'policy',
    header: 'Policy',
    cell: ({ policy: { policyId, policyName }, words }) => (
      <>
        <Link to="/policies/$policyId" params={{ policyId }} className={styles.name}>
          <bdi>{policyName}</bdi>
        </Link>
        {words && <Sentence className={styles.text} size="fact" parts={words.sentence} />}
      </>
    ),
  },
  {
    id: 'effect',
    header: 'Effect',
    width: '84px',
    narrow: 'second',
    cell: ({ policy }) =>
      policy.effect === 'EFFECT_DENY' ? <Tag kind="deny">Deny</Tag> : <Tag kind="allow">Allow</Tag>,
  },
  {
    id: 'marks',
    header: 'Marks',
    width: '190px',
    cell: ({ words }) =>
      words && (
        <span className={styles.cell}>
          <RiskMark risk={words.risk} />
          {words.errors.length > 0 && <StatusMark tone="deny">{count(words.errors.length, 'error')}</StatusMark>}
          {words.warnings.length > 0 && (
            <StatusMark tone="wait" icon="triangle">
              <span title={words.warnings.map(({ message }) => message).join('\n')}>
                {count(words.warnings.length, 'warning')}
              </span>
            </StatusMark>
          )}
        </span>
      ),
  },
  {
    id: 'changed',
    header: 'Changed',
    width: '110px',
    align: 'right',
    narrow: 'hide',
    cell: ({ policy }) => <Time inRow time={policy.updatedAt} />,
  },
];

const PAGE = 50;

/** Every policy with what it means. */
export function PolicyList({ onCreate }: { readonly onCreate: () => void }) {
  const policies = useApiPages('listPolicies', {}, (answer) => answer.policies, { pageSize: PAGE });
  const described = useApiPages('describePolicies', {}, ({ descriptions }) => descriptions, { pageSize: PAGE });
  const words = new Map(described.items.map((one) => [one.policyId, one]));
  const navigate = useNavigate();
  const off = useOffReason();
  const { query, hasMore } = policies;
  if (query.isPending) return <Skeleton rows={6} label="Loading the policies" />;
  return (
    <>
      {query.error && <ProblemNote problem={problemOf(query.error)} onRetry={() => void query.refetch()} />}
      <Card flush>
        <Table
          label="Policies"
          columns={COLUMNS}
          rows={policies.items.map((policy): Row => ({ policy, words: words.get(policy.policyId) }))}
          rowKey={({ policy }) => policy.policyId}
          onOpen={({ policy: { policyId } }) => void navigate({ to: '/policies/$policyId', params: { policyId } })}
          empty={
            <Empty
              title="No policies yet"
              icon="shield"
              call={`await client.createPolicy({\n  policyName: 'Ops create wallets',\n  effect: 'EFFECT_ALLOW',\n  condition: "activity.resource == 'WALLET' && activity.action == 'CREATE'",\n  consensus: "approvers.any(user, user.tags.contains('<tag id>'))",\n  notes: '',\n})`}
              actions={
                <Button icon="plus" off={off} onClick={onCreate}>
                  Write the first
                </Button>
              }
            >
              Without a policy only the root quorum can do anything. Policies that allow and deny will be listed here,
              each with what it means.
            </Empty>
          }
        />
        {hasMore && (
          <div className={styles.more}>
            <Button
              busy={query.isFetchingNextPage && 'Loading…'}
              onClick={() => {
                policies.loadMore();
                described.loadMore();
              }}
            >
              Show more
            </Button>
          </div>
        )}
      </Card>
    </>
  );
}
