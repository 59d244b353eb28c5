import type { VoteEvaluation } from '../policy/index.ts';

export const renderEvaluation = ({ trace, ...evaluation }: VoteEvaluation) => ({
  ...evaluation,
  ...(trace !== undefined && { trace: { ...trace, conditions: [...trace.conditions] } }),
});
