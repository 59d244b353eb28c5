import { parseArgs } from 'node:util';

export interface Options {
  /** Only figures whose name contains this. */
  readonly only: string | undefined;
  readonly seconds: number;
  readonly rounds: number;
  /** How long a round may wait for others on this machine to finish. */
  readonly patienceSeconds: number;
  readonly full: boolean;
  /** Webhook events that wait when their deliveries begin. */
  readonly events: number;
  /** Past webhook deliveries that `full` puts beside them. */
  readonly past: number;
  /** Activities that the console scrolls through. */
  readonly activities: number;
  /** Write a processor profile of the service for the one figure that `only` names. */
  readonly profile: boolean;
  /** With `profile`: the keyring in the service's own process, so that its time shows too. */
  readonly inline: boolean;
}

export const USAGE = `npm run bench -- [options]
  --only NAME   only figures whose name contains NAME, e.g. "sqlite update_user_name 32", "start", "components"
  --seconds N   length of each timed window (1)
  --rounds N    alternating rounds of floor and service (5)
  --patience N  seconds that a round waits for a machine that others are using (15)
  --profile     with --only: profile the service under that load and print where its time goes
  --inline      with --profile: the keyring in the service's own process, so that its time shows too
  --full        also the figures among a million wallets, "sqlite scale" and "postgres scale", and among past webhook
                deliveries, "sqlite webhooks past" and "postgres webhooks past"
  --events N    webhook events that wait when their deliveries begin (10000)
  --activities N  activities that the console scrolls through (100000)
  --past N      with --full: past webhook deliveries (10000000)
`;

export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      seconds: { type: 'string', default: '1' },
      rounds: { type: 'string', default: '5' },
      patience: { type: 'string', default: '15' },
      full: { type: 'boolean', default: false },
      events: { type: 'string', default: '10000' },
      past: { type: 'string', default: '10000000' },
      activities: { type: 'string', default: '100000' },
      profile: { type: 'boolean', default: false },
      inline: { type: 'boolean', default: false },
    },
  });
  return {
    only: values.only,
    seconds: positive('seconds', values.seconds),
    rounds: positive('rounds', values.rounds),
    patienceSeconds: positive('patience', values.patience),
    full: values.full,
    events: positive('events', values.events),
    past: positive('past', values.past),
    activities: positive('activities', values.activities),
    profile: values.profile,
    inline: values.inline,
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} must be a positive number`);
  return value;
}
