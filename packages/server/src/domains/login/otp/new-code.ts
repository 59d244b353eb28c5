import type { Config } from '../../../config/config.ts';
import { isParents } from '../../../core/actor.ts';
import type { OtpType } from '../../../core/contact.ts';
import { contactKeyOf } from '../../../core/contact.ts';
import type { User } from '../../../core/model.ts';
import type { ExecuteContext, PrepareContext } from '../../../engine/define.ts';
import { holderOf } from '../../../engine/holder.ts';
import type { OtpId } from '../../../lib/ids.ts';
import { randomCode } from '../../../lib/random.ts';
import type { MailMessage, SealedMessage, SmsMessage } from '../../messages/message.ts';
import { type SenderFields, senderOf } from '../../messages/sender-address.ts';
import { MessageStore } from '../../messages/store.ts';
import { checkCustomization, type EmailCustomization } from '../../messages/templates/customization.ts';
import { loadTemplate, type MailTemplate } from '../../messages/templates/files.ts';
import { otpMail, otpSms } from '../../messages/templates/otp.ts';
import type { NewOtp } from '../store/otps.ts';
import { OtpStore } from '../store/otps.ts';
import { checkContact, contactOfType } from './contacts.ts';
import { countMessage } from './limits.ts';
import { lifeOf } from './seconds.ts';

/** What a request for a code says, in whatever version. */
interface CodeRequest extends SenderFields {
  readonly otpType: OtpType;
  readonly contact: string;
  readonly otpLength?: number | undefined;
  readonly alphanumeric?: boolean | undefined;
  readonly expirationSeconds?: string | undefined;
  /** Empty where it is not known. */
  readonly appName: string;
  readonly emailCustomization?: Omit<EmailCustomization, 'appName'> | undefined;
  readonly smsCustomization?: { readonly template?: string | undefined } | undefined;
  readonly userIdentifier?: string | undefined;
}

export function checkCodeRequest(request: CodeRequest): void {
  checkContact(request.otpType, request.contact);
  checkCustomization(request);
}

/** How long the code of a request lives. */
export const codeSeconds = (config: Config, asked: string | undefined): number =>
  lifeOf(asked, { usual: config.otpSeconds, max: config.otpSecondsMax });

export const UNWORDED = {
  appName: '',
  emailCustomization: undefined,
  smsCustomization: undefined,
  sendFromEmailAddress: undefined,
  sendFromEmailSenderName: undefined,
  replyToEmailAddress: undefined,
} as const;

/** A code that waits to be stored, with the message that carries it. */
interface PreparedCode {
  readonly otp: NewOtp;
  readonly message: SealedMessage;
  readonly targetBundle: string;
}

/** Makes a code, for a user of the organization or for a contact alone. */
export async function prepareCode(
  context: PrepareContext,
  request: CodeRequest,
  { user, isEncrypted }: { readonly user?: User; readonly isEncrypted: boolean },
): Promise<PreparedCode> {
  const { actor, config, keyring, messages, newId, nowMs } = context;
  const { otpType: type } = request;
  const id: OtpId = newId();
  const code = randomCode(request.otpLength ?? config.otpLength, request.alphanumeric ?? true);
  const seconds = codeSeconds(config, request.expirationSeconds);
  const expiresAtMs = nowMs + seconds * 1000;
  // To the address on record rather than to a spelling of it, which may be another mailbox.
  const contact = user?.[contactOfType(type)] ?? request.contact;
  const isWorded = isParents(actor);
  const worded = isWorded ? request : { ...request, ...UNWORDED };
  const templateId = type === 'OTP_TYPE_EMAIL' ? request.emailCustomization?.templateId : undefined;
  const template = await templateOf(context, templateId);
  const input = { ...worded, contact, template: isWorded ? template : undefined };
  const [{ sealedOtp, targetBundle }, message] = await Promise.all([
    keyring.createOtp(holderOf(context, id), code),
    messages.compose(actor.organization, write(input, code, seconds, expiresAtMs)),
  ]);
  const otp: NewOtp = {
    id,
    type,
    contact,
    contactKey: contactKeyOf(type, contact),
    userId: user?.id,
    isEncrypted,
    sealedOtp,
    attempts: config.otpAttempts,
    expiresAtMs,
    createdAtMs: nowMs,
  };
  return { otp, message, targetBundle };
}

/** The operator's template that a request names; one that is not there is refused, whoever names it. */
export async function templateOf(
  { config }: Pick<PrepareContext, 'config'>,
  templateId: string | undefined,
  field = 'parameters.emailCustomization.templateId',
): Promise<MailTemplate | undefined> {
  return templateId ? await loadTemplate(config.mailTemplates, templateId, field) : undefined;
}

type Written = CodeRequest & { readonly template: MailTemplate | undefined };

function write(request: Written, code: string, seconds: number, notAfterMs: number): MailMessage | SmsMessage {
  const { otpType, contact: to, appName, emailCustomization, smsCustomization, template } = request;
  if (otpType === 'OTP_TYPE_SMS') {
    return { channel: 'sms', to, text: otpSms({ code, appName, template: smsCustomization?.template }), notAfterMs };
  }
  const mail = otpMail({ ...emailCustomization, appName, code, expiresInSeconds: seconds, template });
  return { channel: 'email', to, ...mail, ...senderOf(request), notAfterMs };
}

/** Stores the code and its message, if not too many were asked for. */
export async function storeCode(
  context: ExecuteContext,
  { otp, message }: PreparedCode,
  userIdentifier: string | undefined,
): Promise<void> {
  const { store, actor, config, nowMs } = context;
  await countMessage(context, otp.contactKey, userIdentifier);
  await store(OtpStore).insertOtp(actor.organizationId, otp, config.otpActive);
  await store(MessageStore).insert(message, nowMs);
}
