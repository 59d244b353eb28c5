import { parseArgs } from 'node:util';

export interface Options {
  /** Only figures whose name contains this. */
  readonly only: string | undefined;
  readonly seconds: number;
  readonly rounds: number;
  /** How long a round may wait for others on this machine to finish. */
  readonly patienceSeconds: number;
  readonly full: boolean;
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
  --full        also the figures among a million wallets, "sqlite scale" and "postgres scale"
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
    profile: values.profile,
    inline: values.inline,
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} must be a positive number`);
  return value;
}
