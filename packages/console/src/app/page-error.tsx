import type { ErrorComponentProps } from '@tanstack/react-router';
import { problemOf } from '../api/problem.ts';
import { Page } from '../kit/page.tsx';
import { ProblemNote } from '../kit/problem-note.tsx';

/** A page that broke: the frame around it works on. */
export function PageError({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="This page broke">
      <ProblemNote problem={problemOf(error)} onRetry={reset} />
    </Page>
  );
}
