import type { FeedEvent } from '@custos/sdk';
import { Command } from 'commander';
import { openService, type ServiceOptions } from '../credentials.ts';

interface FollowOptions extends ServiceOptions {
  readonly organization?: string;
  readonly cursor?: string;
  readonly json?: boolean;
}

/** `custos activities`: what happens in an organization. */
export function activitiesCommand(): Command {
  return new Command('activities').description('Watch what happens in an organization.').addCommand(followCommand());
}

function followCommand(): Command {
  return new Command('follow')
    .description('Print one line for each change of an activity, a send or a webhook delivery, until interrupted.')
    .option('--credentials <file>', 'credentials file (default: root-credentials.json in CUSTOS_DATA_DIR or ./data)')
    .option('--url <address>', 'address of the service, if it is not the one in the file')
    .option('--organization <id>', 'a sub-organization to follow instead')
    .option('--cursor <cursor>', 'go on behind the event with this cursor, which --json prints')
    .option('--json', 'print the events as JSON')
    .action(async ({ organization, cursor, json = false, ...service }: FollowOptions) => {
      const { client } = openService(service);
      const events = client.feed({
        ...(organization !== undefined && { organizationId: organization }),
        ...(cursor !== undefined && { cursor }),
        onInterrupted: ({ message }) => process.stderr.write(`custos: ${message}; trying again\n`),
      });
      for await (const event of events) process.stdout.write(`${json ? JSON.stringify(event) : lineOf(event)}\n`);
    });
}

function lineOf(event: FeedEvent): string {
  switch (event.kind) {
    case 'ACTIVITY':
      return `${event.updatedAt} activity ${event.activityId} ${short(event.type)} ${short(event.status)}`;
    case 'SEND':
      return `${event.updatedAt} send ${event.sendTransactionStatusId} ${event.state}`;
    case 'WEBHOOK_DELIVERY':
      return `${event.updatedAt} delivery ${event.deliveryId} ${short(event.state)}`;
    case 'GAP':
      return 'some changes were too long ago to be told';
    default:
      // A newer service may tell more.
      return JSON.stringify(event);
  }
}

const short = (name: string): string => name.replace(/^(?:ACTIVITY_TYPE|ACTIVITY_STATUS|WEBHOOK_DELIVERY_STATE)_/, '');
