import Type from 'typebox';
import { ClientSignatureShape, VerificationTokenShape } from '../../../authn/shapes.ts';
import { listShape, textShape } from '../../../lib/shapes.ts';
import { createSubOrganization } from '../../organizations/operations/create-sub-organization.ts';
import {
  ApiKeyParamsShape,
  AuthenticatorParamsShape,
  type OauthProviderParams,
  OauthProviderParamsShape,
  OauthProviderParamsV1Shape,
} from '../../users/shapes/credentials.ts';
import { EmailOrEmptyShape, PhoneOrEmptyShape } from '../../users/shapes/users.ts';
import { WalletParamsShape, WalletResultShape } from '../../wallets/shapes.ts';
import { readVerification } from '../accounts.ts';
import { defineProxyCall } from '../define.ts';
import { type Demand, demand, ofIssuer, ofOidcToken, ofVerification } from '../methods.ts';
import type { Visit } from '../visit.ts';

const NameOrEmptyShape = textShape(255);

/** That of create_sub_organization, which is what runs. */
const BODY_LIMIT = createSubOrganization.bodyLimit;

const base = {
  userEmail: Type.Optional(EmailOrEmptyShape),
  userPhoneNumber: Type.Optional(PhoneOrEmptyShape),
  userTag: Type.Optional(NameOrEmptyShape),
  userName: Type.Optional(NameOrEmptyShape),
  organizationName: Type.Optional(NameOrEmptyShape),
  verificationToken: Type.Optional(VerificationTokenShape),
  apiKeys: listShape(ApiKeyParamsShape),
  authenticators: listShape(AuthenticatorParamsShape),
};
const after = {
  wallet: Type.Optional(WalletParamsShape),
  clientSignature: Type.Optional(ClientSignatureShape),
  /** An addition of ours: the proofs are in the answer. */
  generateAppProofs: Type.Optional(Type.Boolean()),
};
/** The three lists are required, also when they are empty (protocol/sign-up-proxy 3.3). */
const SignupV2Shape = Type.Object({ ...base, oauthProviders: listShape(OauthProviderParamsShape), ...after });
const SignupShape = Type.Object({ ...base, oauthProviders: listShape(OauthProviderParamsV1Shape), ...after });
type Signup = Type.Static<typeof SignupV2Shape>;

const ReplyShape = Type.Object({
  organizationId: Type.String(),
  userId: Type.String(),
  wallet: Type.Optional(WalletResultShape),
  appProofs: Type.Optional(
    Type.Array(
      Type.Object({
        scheme: Type.String(),
        publicKey: Type.String(),
        proofPayload: Type.String(),
        signature: Type.String(),
      }),
    ),
  ),
});

/** Keys, passkeys and accounts that a sign-up of a person has, about; one with more of them counts as several. */
const USUAL_ITEMS = 40;

const cost = ({ apiKeys, authenticators, oauthProviders, wallet }: Signup): number =>
  Math.floor(
    (apiKeys.length + authenticators.length + oauthProviders.length + (wallet?.accounts.length ?? 0)) / USUAL_ITEMS,
  );

/** Whoever has a verification token has shown already that there is a person. */
const needsCaptcha = ({ verificationToken }: Signup): boolean => !verificationToken;

export const signupV2 = defineProxyCall({
  name: 'signup_v2',
  summary: 'Sign a new user up: makes a sub-organization with one root user and, if wanted, a wallet.',
  bodyLimit: BODY_LIMIT,
  body: SignupV2Shape,
  reply: ReplyShape,
  demands,
  needsCaptcha,
  cost,
  answer: (visit, body) => signUp(visit, body, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8'),
});

export const signup = defineProxyCall({
  name: 'signup',
  summary: 'The older form of signup_v2, where every OAuth provider comes with its token.',
  bodyLimit: BODY_LIMIT,
  body: SignupShape,
  reply: ReplyShape,
  demands,
  needsCaptcha,
  cost,
  answer: (visit, body) => signUp(visit, body, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7'),
});

/** Every way in that the new user gets must be turned on; a sign-up that shows none counts by what it brings. */
function demands(visit: Visit, body: Signup): readonly Demand[] {
  const { verificationToken, authenticators, apiKeys, oauthProviders } = body;
  const shown = [
    ...(verificationToken ? [ofVerification(readVerification(visit, verificationToken))] : []),
    ...(authenticators.length > 0 ? [demand('passkey')] : []),
    ...(apiKeys.some(({ curveType }) => curveType !== 'API_KEY_CURVE_P256') ? [demand('wallet')] : []),
    ...oauthProviders.map((provider) => ofProvider(visit, provider)),
  ];
  if (shown.length > 0) return shown;
  if (body.userEmail) return [demand('email')];
  return [demand(body.userPhoneNumber ? 'sms' : 'wallet')];
}

const ofProvider = (visit: Visit, { oidcToken, oidcClaims }: OauthProviderParams): Demand =>
  oidcToken === undefined ? ofIssuer(visit, oidcClaims?.iss, oidcClaims?.sub) : ofOidcToken(visit, oidcToken);

interface Created {
  readonly subOrganizationId: string;
  readonly rootUserIds: readonly string[];
  readonly wallet?: Type.Static<typeof WalletResultShape>;
}

async function signUp(visit: Visit, body: Signup, type: string): Promise<Type.Static<typeof ReplyShape>> {
  const { userEmail, userPhoneNumber, userTag, userName, organizationName, generateAppProofs } = body;
  const { apiKeys, authenticators, oauthProviders, wallet, verificationToken, clientSignature } = body;
  const { activity, result } = await visit.run<Created>({
    type,
    generateAppProofs,
    parameters: {
      // Others may look names up: a generated one tells nothing of the user.
      subOrganizationName: organizationName?.trim() || `Account ${visit.app.newId()}`,
      rootQuorumThreshold: 1,
      rootUsers: [
        {
          userName: userName?.trim() || userEmail || userPhoneNumber || 'User',
          ...(userEmail && { userEmail }),
          ...(userPhoneNumber && { userPhoneNumber }),
          ...(userTag?.trim() && { userTagName: userTag }),
          apiKeys,
          authenticators,
          oauthProviders,
        },
      ],
      ...(wallet && { wallet }),
      ...(verificationToken && { verificationToken }),
      ...(clientSignature && { clientSignature }),
    },
  });
  const [userId = ''] = result.rootUserIds;
  return {
    organizationId: result.subOrganizationId,
    userId,
    ...(result.wallet && { wallet: result.wallet }),
    ...(activity.appProofs && { appProofs: activity.appProofs }),
  };
}
