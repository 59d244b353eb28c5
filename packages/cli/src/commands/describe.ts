import type { CustosClient } from '@custos/sdk';
import { Command } from 'commander';
import { openService, type ServiceOptions } from '../credentials.ts';

type Description = Awaited<ReturnType<CustosClient['describeActivity']>>['description'];

const RISKS: Readonly<Record<Description['risk'], string>> = {
  ROUTINE: 'Routine',
  LOOK_CLOSELY: 'Look closely',
  DANGER: 'Danger',
  UNREADABLE: 'Unreadable',
};

/** `custos describe`: an activity in words, for those who approve from a terminal. */
export function describeCommand(): Command {
  return new Command('describe')
    .description('Say in words what an activity does, how much care it asks for, and what it consists of.')
    .argument('<activity-id>', 'id of the activity')
    .option('--json', 'print the whole answer')
    .option('--organization <id>', 'organization of the activity, if it is not the one of the credentials')
    .option('--credentials <file>', 'credentials file (default: root-credentials.json in CUSTOS_DATA_DIR or ./data)')
    .option('--url <address>', 'address of the service, if it is not the one in the file')
    .action(async (activityId: string, options: ServiceOptions & { json?: boolean; organization?: string }) => {
      const { client } = openService(options);
      const { description } = await client.describeActivity({
        activityId,
        ...(options.organization !== undefined && { organizationId: options.organization }),
      });
      process.stdout.write(
        options.json ? `${JSON.stringify(description, null, 2)}\n` : `${toLines(description).join('\n')}\n`,
      );
    });
}

/** Addresses stand in full here: somebody decides by them. */
function toLines({ kind, text, risk, marks, consequence, steps, fields, recipients, bytes }: Description): string[] {
  const width = Math.min(28, Math.max(0, ...fields.map(({ label }) => label.length)));
  return [
    kind,
    text,
    '',
    `${RISKS[risk]}${marks.length === 0 ? '' : `: ${marks.map((mark) => mark.text).join('; ')}`}`,
    ...(consequence === undefined ? [] : [`To approve it means: ${consequence}`]),
    ...steps.map(
      (step, index) => `  ${index + 1}. ${step.sentence.map((part) => part.text).join('')} (${RISKS[step.risk]})`,
    ),
    ...(fields.length === 0 ? [] : ['']),
    ...fields.map(({ label, value, note }) => {
      const shown = value.map((part) => part.text).join('');
      return `  ${label.padEnd(width)}  ${shown}${note === undefined ? '' : ` (${note})`}`;
    }),
    ...recipients.flatMap(({ address, lookAlike }) =>
      lookAlike === undefined
        ? []
        : [`  ${address} is not ${lookAlike.address}${lookAlike.name === undefined ? '' : `, ${lookAlike.name}`}`],
    ),
    ...(bytes === undefined ? [] : ['', `  ${bytes.algorithm} of the bytes to be signed  ${bytes.digest}`]),
  ];
}
