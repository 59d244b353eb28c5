import Type from 'typebox';
import { integerShape, NameShape, textShape } from '../../../lib/shapes.ts';
import { SecondsShape } from './sessions.ts';

/** Bounds that the checks of messages stay below; what a field has to be like is theirs to say. */
const ADDRESS_MAX = 254;
const LINK_MAX = 2048;
const VARIABLES_MAX = 4096;
const SMS_MAX = 1024;

export const OtpTypeShape = Type.Enum(['OTP_TYPE_EMAIL', 'OTP_TYPE_SMS']);

export const ContactShape = Type.String({
  pattern: '^[^\\u0000]{1,254}$',
  'x-trim': true,
  'x-message': 'must be 1 to 254 characters',
});

/** Any text finds nothing unless it is the id of a code; a wrong id is answered as a wrong code is. */
export const OtpIdShape = Type.String({ maxLength: 64, pattern: '^[^\\u0000]*$', 'x-trim': true, 'x-lower': true });

const looks = {
  logoUrl: Type.Optional(textShape(LINK_MAX)),
  magicLinkTemplate: Type.Optional(textShape(LINK_MAX)),
  templateVariables: Type.Optional(textShape(VARIABLES_MAX)),
  templateId: Type.Optional(textShape(ADDRESS_MAX)),
};

/** Where the name of the application stands beside it. */
const EmailLooksShape = Type.Object(looks);
/** As it was before the name was required. */
const EmailCustomizationShape = Type.Object({ appName: Type.Optional(textShape(255)), ...looks });
export const NamedEmailCustomizationShape = Type.Object({ appName: NameShape, ...looks });

/** Whom a mail comes from; a domain that the operator does not list is ignored (protocol/messages 1.4). */
export const SENDER_PARAMS = {
  sendFromEmailAddress: Type.Optional(textShape(ADDRESS_MAX)),
  sendFromEmailSenderName: Type.Optional(textShape(255)),
  replyToEmailAddress: Type.Optional(textShape(ADDRESS_MAX)),
};

/** What every version of a request for a code has. */
export const CODE_PARAMS = {
  otpType: OtpTypeShape,
  contact: ContactShape,
  smsCustomization: Type.Optional(Type.Object({ template: Type.Optional(textShape(SMS_MAX)) })),
  userIdentifier: Type.Optional(textShape(1024)),
  ...SENDER_PARAMS,
};

export const CODE_FORMAT_PARAMS = {
  otpLength: Type.Optional(integerShape(6, 9)),
  alphanumeric: Type.Optional(Type.Boolean()),
};

export const CODE_LIFE_PARAMS = { expirationSeconds: Type.Optional(SecondsShape) };

/** The name of the application at the top, as newer versions have it. */
export const NAMED_PARAMS = { appName: NameShape, emailCustomization: Type.Optional(EmailLooksShape) };
/** The same inside the customization, as the first versions have it. */
export const UNNAMED_PARAMS = { emailCustomization: Type.Optional(EmailCustomizationShape) };

/** How the first versions say what newer ones do. */
export const appNameOf = (customization: { readonly appName?: string } | undefined): string =>
  customization?.appName ?? '';
