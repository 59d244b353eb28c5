import { isParents } from '../../core/actor.ts';
import { contactKeyOf } from '../../core/contact.ts';
import { type ApiKey, treeRoot, type User } from '../../core/model.ts';
import type { ExecuteContext, PrepareContext } from '../../engine/define.ts';
import { targetKeyOf } from '../../engine/holder.ts';
import { requireEmailAddress } from '../../lib/mail-address.ts';
import type { SealedMessage } from '../messages/message.ts';
import { type SenderFields, senderOf } from '../messages/sender-address.ts';
import { MessageStore } from '../messages/store.ts';
import type { BundleMailInput } from '../messages/templates/bundle.ts';
import { checkCustomization, type EmailCustomization } from '../messages/templates/customization.ts';
import type { MailText } from '../messages/templates/layout.ts';
import { countMessage } from './otp/limits.ts';
import { templateOf } from './otp/new-code.ts';
import { addSessionKey, type NewSessionKey, parseSessionSeconds, SESSION_SECONDS } from './session-keys.ts';
import { appNameOf } from './shapes/otp.ts';

/** What asks for a key whose private half goes to a user by mail, encrypted to the target key (protocol/login 6.1). */
interface MailedKeyRequest extends SenderFields {
  readonly email: string;
  readonly targetPublicKey: string;
  readonly expirationSeconds?: string | undefined;
  readonly emailCustomization?: EmailCustomization | undefined;
}

/** Older versions may leave the name of the application out. */
export const withAppName = <Request extends { readonly emailCustomization?: { readonly appName?: string } }>(
  request: Request,
) => ({
  ...request,
  emailCustomization: { ...request.emailCustomization, appName: appNameOf(request.emailCustomization) },
});

export function checkMailedKey(request: MailedKeyRequest): void {
  requireEmailAddress(request.email, 'parameters.email');
  targetKeyOf(request.targetPublicKey);
  parseSessionSeconds(request.expirationSeconds);
  checkCustomization(request);
}

interface MailedKey {
  readonly user: User;
  readonly publicKey: string;
  readonly seconds: number;
  readonly message: SealedMessage;
}

export async function prepareMailedKey(
  context: PrepareContext,
  request: MailedKeyRequest,
  user: User,
  write: (mail: BundleMailInput) => MailText,
  /** The template where the request names none. */
  usual?: { readonly templateId: string | undefined; readonly field: string },
): Promise<MailedKey> {
  const { keyring, messages, actor, nowMs } = context;
  const named = request.emailCustomization?.templateId;
  const template = named
    ? await templateOf(context, named)
    : await templateOf(context, usual?.templateId, usual?.field);
  const { publicKey, credentialBundle } = await keyring.createCredential(targetKeyOf(request.targetPublicKey));
  const seconds = parseSessionSeconds(request.expirationSeconds) ?? SESSION_SECONDS;
  const isWorded = isParents(actor);
  const looks = isWorded ? request.emailCustomization : undefined;
  const mail = write({
    ...looks,
    bundle: credentialBundle,
    expiresInSeconds: seconds,
    // A sub-organization cannot choose, and gets what its parent has chosen.
    template: isWorded || !named ? template : undefined,
  });
  const message = await messages.compose(actor.organization, {
    channel: 'email',
    // The address on record rather than a spelling of it, which may be another mailbox.
    to: user.email as string,
    ...mail,
    ...(isWorded && senderOf(request)),
    notAfterMs: nowMs + seconds * 1000,
  });
  return { user, publicKey, seconds, message };
}

/** Registers the key and stores the mail, if not too many were asked for. */
export async function storeMailedKey(
  context: ExecuteContext,
  { user, publicKey, seconds, message }: MailedKey,
  key: Pick<NewSessionKey, 'type' | 'name' | 'invalidateExisting'>,
): Promise<ApiKey> {
  const { store, actor, nowMs } = context;
  await countMessage(context, contactKeyOf('OTP_TYPE_EMAIL', user.email as string));
  const place = { organizationId: actor.organizationId, rootId: treeRoot(actor.organization) };
  const added = await addSessionKey(context, place, user.id, { ...key, publicKey, seconds });
  await store(MessageStore).insert(message, nowMs);
  return added;
}
