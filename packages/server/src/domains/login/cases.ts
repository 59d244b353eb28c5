import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { codeCases } from './cases/codes.ts';
import { oauthCases } from './cases/oauth.ts';
import { sessionCases } from './cases/sessions.ts';

export const cases: DomainCases = { ...codeCases, ...oauthCases, ...sessionCases };
