import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { ethereumCases } from './cases/ethereum.ts';
import { solanaCases } from './cases/solana.ts';

export const cases: DomainCases = { ...ethereumCases, ...solanaCases };
