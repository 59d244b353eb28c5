import { invitationCalls } from '../../packages/server/src/domains/organizations/invitations/calls.ts';
import { code, fieldTable } from './markdown.ts';
import type { NameOf } from './typescript.ts';

/** The calls of an invited person, which are no operations: they have no stamp and answer with plain objects. */
export function invitationSections(nameOf: NameOf): string[] {
  return [
    '# Accepting invitations',
    'For a person whom [`create_invitations`](organizations.md#create_invitations) has invited and who has no credential yet. Every call is a POST of JSON without a stamp; `organizationId`, `invitationId` and `secret` are those in the fragment of the mailed link. The page at `/invitation`, to which the link leads, makes these calls; a page of your own can make them too. See [Invitations](../guides/invitations.md).',
    invitationCalls.map(({ name, summary }) => `- [${code(name)}](#${name}): ${summary}`).join('\n'),
    ...invitationCalls.flatMap((call) => [
      `## ${call.name}`,
      call.summary,
      [
        `- Path: ${code(`POST ${call.path}`)}`,
        `- Largest body: ${call.bodyLimit / 1024} KiB`,
        '- An addition of this service; the public SDKs do not know it.',
      ].join('\n'),
      '### Body',
      fieldTable(call.body, nameOf),
      '### Answer',
      fieldTable(call.reply, nameOf),
    ]),
  ];
}
