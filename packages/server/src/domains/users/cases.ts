import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { credentialCases } from './cases/credentials.ts';
import { mfaCases } from './cases/mfa.ts';
import { userCases } from './cases/users.ts';

export const cases: DomainCases = { ...credentialCases, ...mfaCases, ...userCases };
