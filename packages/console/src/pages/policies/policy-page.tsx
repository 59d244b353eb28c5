import { useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import { problemOf } from '../../api/problem.ts';
import { useApi } from '../../api/use-api.ts';
import { Page } from '../../kit/page.tsx';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { Skeleton } from '../../kit/skeleton.tsx';
import { draftOf, NEW } from './draft.ts';
import { PolicyEditor } from './policy-editor.tsx';

const PARENT = { label: 'Policies', to: '/policies' };

/** A stored policy, or `new` for one that begins here. */
export function PolicyPage() {
  const { policyId } = useParams({ from: '/shell/policies/$policyId' });
  return policyId === 'new' ? (
    <PolicyEditor key="new" policyId={undefined} stored={NEW} />
  ) : (
    <StoredPolicyPage key={policyId} policyId={policyId} />
  );
}

function StoredPolicyPage({ policyId }: { readonly policyId: string }) {
  const { data, error, refetch } = useApi('getPolicy', { policyId });
  // The form keeps what was typed; it must not begin anew with every answer that says the same.
  const text = JSON.stringify(data?.policy);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is the policy
  const stored = useMemo(() => data && draftOf(data.policy), [text]);
  if (stored !== undefined) return <PolicyEditor policyId={policyId} stored={stored} />;
  return (
    <Page title="Policy" parent={PARENT}>
      {error === null ? (
        <Skeleton rows={4} shape="cards" label="Loading the policy" />
      ) : (
        <ProblemNote problem={problemOf(error)} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}
