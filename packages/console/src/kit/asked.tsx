import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { problemOf } from '../api/problem.ts';
import { ProblemNote } from './problem-note.tsx';
import { Skeleton, type SkeletonProps } from './skeleton.tsx';

export interface AskedProps<Answer> extends SkeletonProps {
  readonly query: UseQueryResult<Answer, Error>;
  readonly children: (answer: Answer) => ReactNode;
}

/** An answer once it is there; before it its shape, and instead of it what went wrong. A former answer stays on failure. */
export function Asked<Answer>({ query, children, ...skeleton }: AskedProps<Answer>) {
  const { data, error, refetch } = query;
  return (
    <>
      {error !== null && <ProblemNote problem={problemOf(error)} onRetry={() => void refetch()} />}
      {data !== undefined ? children(data) : error === null && <Skeleton {...skeleton} />}
    </>
  );
}
