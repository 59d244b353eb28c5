import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { limitCases } from './cases/limits.ts';
import { policyCases } from './cases/policies.ts';

export const cases: DomainCases = { ...limitCases, ...policyCases };
