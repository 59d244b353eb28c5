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
  /** Activities among which `full` looks for a few; a tenth as many wallets. */
  readonly among: number;
  /** Activities that the console scrolls through. */
  readonly activities: number;
  /** Wallets that `full` backs up and restores. */
  readonly wallets: number;
  /** Minutes of mixed load after which `full` looks at memory again. */
  readonly minutes: number;
  /** A file for the table of the README. */
  readonly markdown: string | undefined;
  /** A folder for processor profiles of the service, for the one figure that `only` names. */
  readonly profile: string | undefined;
  /** With `profile`: the keyring in the service's own process, so that its time shows too. */
  readonly inline: boolean;
}

export const USAGE = `npm run bench -- [options]
  --only NAME   only figures whose name contains NAME, e.g. "sqlite update_user_name 32", "start", "components"
  --seconds N   length of each timed window (1)
  --rounds N    alternating rounds of floor and service (5)
  --patience N  seconds that a round waits for a machine that others are using (5)
  --markdown FILE  write the table for the README to FILE
  --profile FOLDER  with --only: profile the service under that load, keep the profiles in FOLDER and print where its
                time goes
  --inline      with --profile: the keyring in the service's own process, so that its time shows too
  --full        also the figures among a million wallets, "sqlite scale" and "postgres scale", among ten million
                activities, "sqlite activities", among past webhook deliveries, "sqlite webhooks past" and "postgres
                webhooks past", backups of a million wallets, "sqlite backup" and "postgres backup", and memory under
                load, "sqlite memory under load"
  --events N    webhook events that wait when their deliveries begin (10000)
  --activities N  activities that the console scrolls through (100000)
  --past N      with --full: past webhook deliveries (10000000)
  --among N     with --full: activities among which few are looked for (10000000)
  --wallets N   with --full: wallets that are backed up and restored (1000000)
  --minutes N   with --full: minutes of mixed load (60)
`;

export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      seconds: { type: 'string', default: '1' },
      rounds: { type: 'string', default: '5' },
      patience: { type: 'string', default: '5' },
      full: { type: 'boolean', default: false },
      events: { type: 'string', default: '10000' },
      past: { type: 'string', default: '10000000' },
      activities: { type: 'string', default: '100000' },
      among: { type: 'string', default: '10000000' },
      wallets: { type: 'string', default: '1000000' },
      minutes: { type: 'string', default: '60' },
      markdown: { type: 'string' },
      profile: { type: 'string' },
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
    among: positive('among', values.among),
    wallets: positive('wallets', values.wallets),
    minutes: positive('minutes', values.minutes),
    markdown: values.markdown,
    profile: values.profile,
    inline: values.inline,
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} must be a positive number`);
  return value;
}
