import { type Block, duration, layout, type MailText, paragraph } from './layout.ts';

export interface InvitationMailInput {
  /** Absent where whoever invites may not word mails. */
  readonly organizationName?: string;
  readonly userName?: string;
  readonly url: string;
  readonly expiresInSeconds: number;
}

/** The mail with the link of an invitation. */
export function invitationMail({ organizationName, userName, url, expiresInSeconds }: InvitationMailInput): MailText {
  const organization = organizationName === undefined ? 'an organization' : `the organization “${organizationName}”`;
  const user = userName === undefined ? '' : ` as the user “${userName}”`;
  const link: Block = { kind: 'link', label: 'Accept the invitation', url };
  return layout('You are invited to an organization', {}, [
    paragraph(`You are invited to join ${organization}${user}.`),
    link,
    paragraph(
      `The link expires in ${duration(expiresInSeconds)} and works once. Do not pass it on: whoever has it can join as you.`,
    ),
    paragraph('If you do not know of it, you can ignore this message.'),
  ]);
}
