import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { privateKeysCases } from './cases/private-keys.ts';
import { walletsCases } from './cases/wallets.ts';

export const cases: DomainCases = { ...privateKeysCases, ...walletsCases };
