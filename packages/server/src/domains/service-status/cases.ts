import { expect } from 'vitest';
import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { byRoot } from '../../../test/operations/hostile-case.ts';

export const cases: DomainCases = {
  get_operations: {
    isOfOperator: true,
    query: { place: 'parent', answer: () => expect.objectContaining({ service: expect.anything() }) },
    hostile: byRoot(() => ({})),
  },
};
