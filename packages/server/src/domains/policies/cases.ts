import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { limitsCases } from './cases/limits.ts';
import { policiesCases } from './cases/policies.ts';

export const cases: DomainCases = { ...limitsCases, ...policiesCases };
