import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { privateKeyCases } from './cases/private-keys.ts';
import { walletCases } from './cases/wallets.ts';

export const cases: DomainCases = { ...privateKeyCases, ...walletCases };
