import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { codesCases } from './cases/codes.ts';
import { oauthCases } from './cases/oauth.ts';
import { sessionsCases } from './cases/sessions.ts';

export const cases: DomainCases = { ...codesCases, ...oauthCases, ...sessionsCases };
