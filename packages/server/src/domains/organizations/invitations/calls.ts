import Type, { type Static, type TSchema } from 'typebox';
import { bodyLimitOf } from '../../../lib/body-limit.ts';
import { decoder } from '../../../lib/shape.ts';
import { IdShape, textShape } from '../../../lib/shapes.ts';
import { ApiKeyParamsShape, AuthenticatorParamsShape } from '../../users/shapes/credentials.ts';
import { AccessTypeShape } from '../../users/shapes/users.ts';

/** What an invited person may call. There is no stamp: the secret of the link is what vouches for the caller. */
export interface InvitationCall<Body = unknown> {
  readonly name: string;
  readonly summary: string;
  readonly path: string;
  readonly bodyLimit: number;
  readonly body: TSchema;
  readonly reply: TSchema;
  readonly decode: (value: unknown) => Body;
}

/** The fragment of the link has these three. */
const LINK = { organizationId: IdShape, invitationId: IdShape, secret: textShape(64) };

const OpenBodyShape = Type.Object(LINK);
const AcceptBodyShape = Type.Object({
  ...LINK,
  apiKey: Type.Optional(ApiKeyParamsShape),
  authenticator: Type.Optional(AuthenticatorParamsShape),
});

export type AcceptBody = Static<typeof AcceptBodyShape>;

const OpenReplyShape = Type.Object({
  organizationName: Type.String(),
  receiverUserName: Type.String(),
  receiverEmail: Type.String(),
  accessType: AccessTypeShape,
  /** RFC 3339. */
  expiresAt: Type.String(),
});
const AcceptReplyShape = Type.Object({
  organizationId: Type.String(),
  invitationId: Type.String(),
  userId: Type.String(),
});

function defineCall<Body extends TSchema>(
  definition: Omit<InvitationCall, 'decode' | 'bodyLimit' | 'body'> & { readonly body: Body },
): InvitationCall<Static<Body>> {
  const decode = decoder(definition.body);
  return {
    ...definition,
    bodyLimit: bodyLimitOf(definition.name, [definition.body], undefined),
    decode: (value) => decode(value),
  };
}

export const openInvitation = defineCall({
  name: 'open_invitation',
  summary: 'What an invitation is for, for whoever has its link.',
  path: '/public/v1/invitation/open',
  body: OpenBodyShape,
  reply: OpenReplyShape,
});

export const acceptInvitation = defineCall({
  name: 'accept_invitation',
  summary:
    'Accept an invitation with its link: makes the invited user with one API key or one passkey. Once; the same body again answers the same.',
  path: '/public/v1/invitation/accept',
  body: AcceptBodyShape,
  reply: AcceptReplyShape,
});

export const invitationCalls: readonly InvitationCall[] = [openInvitation, acceptInvitation];
