import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { credentialsCases } from './cases/credentials.ts';
import { mfaCases } from './cases/mfa.ts';
import { usersCases } from './cases/users.ts';

export const cases: DomainCases = { ...credentialsCases, ...mfaCases, ...usersCases };
