import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { withId } from '../../../test/operations/every-case.ts';
import { byRoot } from '../../../test/operations/hostile-case.ts';

export const cases: DomainCases = {
  search: {
    query: {
      parameters: withId('text', ({ plain }) => plain.userId),
      answer: ({ plain }) => ({ matches: [{ kind: 'USER', id: plain.userId, name: 'plain' }] }),
      foreignAnswer: { matches: [] },
    },
    hostile: byRoot((tenant) => ({ text: tenant.marker, limit: 5 })),
  },
};
