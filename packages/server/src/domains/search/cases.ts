import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { byRoot } from '../../../test/operations/hostile-case.ts';

export const cases: DomainCases = {
  search: {
    query: {
      parameters: async () => ({ text: 'PLAI' }),
      answer: ({ plain }) => ({ matches: [{ kind: 'USER', id: plain.userId, name: 'plain' }] }),
    },
    hostile: byRoot((tenant) => ({ text: tenant.marker, limit: 5 })),
  },
};
