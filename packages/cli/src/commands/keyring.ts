import { Command, InvalidArgumentError } from 'commander';
import { confirmation } from '../confirm.ts';
import { leftAlone, rotateServiceKey } from '../rotate-service-key.ts';

const WAIT_SECONDS_MAX = 86_400;
const HOURS_MAX = 8760;
const UNKNOWN =
  'Custos cannot know of backups that it did not record, of standby databases that lag behind, of databases that a restore kept aside, or of a restore to an earlier moment';

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** `custos keyring`: care of the root key and of what is sealed under it. Takes the service's own settings. */
export function keyringCommand(): Command {
  return new Command('keyring')
    .description(
      'Change keys, check that every stored secret opens, or run the keyring as a service of its own. Uses the settings of the service.',
    )
    .addCommand(rotateCommand())
    .addCommand(retireCommand())
    .addCommand(unretireCommand())
    .addCommand(resealCommand())
    .addCommand(rotateOrganizationCommand())
    .addCommand(rotateServiceKeyCommand())
    .addCommand(verifyCommand())
    .addCommand(serveCommand());
}

interface RotateFlags {
  readonly wait: number;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

function rotateCommand(): Command {
  return new Command('rotate')
    .description(
      'Move everything to a new root key while the service runs. The old one stays in the key ring. If it is interrupted, run it again.',
    )
    .option('--wait <seconds>', 'how long running processes are given to hold the new key', seconds, 60)
    .option('--yes', 'do not ask')
    .option('--dry-run', 'say what would be done, and change nothing')
    .allowExcessArguments(false)
    .action(async ({ wait, yes = false, dryRun = false }: RotateFlags) => {
      const ask = confirmation({ yes, dryRun }, 'this moves everything to a new root key');
      // Loaded here: commands that only talk to a service must not wait for the whole of it to load.
      const { rotate } = await import('@custos/server/admin');
      const rotated = await rotate(process.env, {
        waitSeconds: wait,
        say,
        asksPerson: !yes,
        confirm: ({ ring, resumes, from, organizations, processes, expired }) => {
          const begin =
            resumes === undefined
              ? `adds a root key to ${ring}, beside ${from}`
              : `finishes the rotation from root key ${from} to ${resumes}`;
          const live = processes.length === 0 ? 'no process is running' : `${processes.join(', ')} must hold it`;
          return ask(
            `This ${begin}, and re-wraps ${count(organizations, 'organization key')} and the key of the service keys; ${live}.${describeExpired(expired)}`,
          );
        },
      });
      if (rotated === undefined) return leftAlone(dryRun);
      const { rootKeyId, rewrapped, kept, resumed } = rotated;
      const did = resumed ? 'finished the rotation' : 'rotated';
      const rest = kept.length === 0 ? '' : `; the ring keeps ${kept.join(', ')}`;
      process.stdout.write(
        `${did} to root key ${rootKeyId}: ${count(rewrapped, 'organization key')} re-wrapped${rest}\n`,
      );
      if (kept.length > 0)
        say(
          'Back up the key ring now. When no backup needs an old key any more, `custos keyring retire` takes it out.',
        );
    });
}

interface RetireFlags extends RotateFlags {
  readonly now?: boolean;
}

function retireCommand(): Command {
  return new Command('retire')
    .description(
      'Take an earlier root key out of use. It opens nothing from then on, and stays in the key ring for 30 days. Refused while the database, a running process or a recorded backup needs it.',
    )
    .argument('<key>', 'id of the root key')
    .option('--now', 'destroy it at once: there is no way back')
    .option('--wait <seconds>', 'how long running processes are given to hold the key in use', seconds, 60)
    .option('--yes', 'do not ask')
    .option('--dry-run', 'say what would be done, and change nothing')
    .allowExcessArguments(false)
    .action(async (keyId: string, { now = false, wait, yes = false, dryRun = false }: RetireFlags) => {
      const ask = confirmation({ yes, dryRun }, 'this takes a root key out of use');
      const { retire } = await import('@custos/server/admin');
      const retired = await retire(process.env, {
        keyId,
        isNow: now,
        waitSeconds: wait,
        say,
        asksPerson: !yes,
        confirm: ({ ring, keptUntilMs, doubt, expired }) => {
          const what =
            keptUntilMs === undefined
              ? `destroys root key ${keyId} in ${ring}: there is no way back`
              : `retires root key ${keyId} in ${ring}, which keeps it until ${new Date(keptUntilMs).toISOString()}`;
          const clock = doubt === undefined ? '' : ` Make sure that the clock is right: ${doubt}.`;
          return ask(
            `This ${what}. Nothing that is known needs it. ${UNKNOWN}: each of them needs the key.${clock}${describeExpired(expired)}`,
          );
        },
      });
      if (retired === undefined) return leftAlone(dryRun);
      const { keptUntilMs, stillHeldBy, leftovers } = retired;
      process.stdout.write(
        keptUntilMs === undefined
          ? `destroyed root key ${keyId}\n`
          : `retired root key ${keyId}; it stays in the key ring until ${new Date(keptUntilMs).toISOString()}\n`,
      );
      if (keptUntilMs !== undefined)
        say(`It opens nothing now; \`custos keyring unretire ${keyId}\` brings it back. ${UNKNOWN}.`);
      if (stillHeldBy.length > 0) say(`Copies of the ring still open it: copy the ring to ${stillHeldBy.join(', ')}.`);
      if (leftovers.length > 0)
        say(
          `Killed commands may have left copies of the ring that cannot be removed: destroy ${leftovers.join(', ')}.`,
        );
    });
}

function unretireCommand(): Command {
  return new Command('unretire')
    .description('Let a retired root key open again what is under it, as for a backup that was restored.')
    .argument('<key>', 'id of the root key')
    .allowExcessArguments(false)
    .action(async (keyId: string) => {
      const { unretire } = await import('@custos/server/admin');
      await unretire(process.env, keyId, say);
      process.stdout.write(`root key ${keyId} is in use again\n`);
    });
}

function resealCommand(): Command {
  return new Command('reseal')
    .description(
      'Write the keys of the ring into a new ring: as they are, or encrypted under a passphrase. The old ring stays as it is.',
    )
    .argument('<to>', "the new ring, as in CUSTOS_ROOT_KEY: 'file:PATH' or 'passphrase-file:PATH'")
    .allowExcessArguments(false)
    .action(async (to: string) => {
      const { reseal } = await import('@custos/server/admin');
      const resealed = await reseal(process.env, to);
      process.stdout.write(`wrote ${count(resealed.keys, 'root key')} to ${resealed.to}\n`);
      say(
        `Run \`custos keyring verify\` with CUSTOS_ROOT_KEY=${to} first. If everything opens, set it for the service and start that again; then destroy ${resealed.from} and its copies.`,
      );
    });
}

function rotateOrganizationCommand(): Command {
  return new Command('rotate-organization')
    .description(
      'Give an organization a new key while the service runs, or the service for its own keys. Run it again an hour later: then the earlier key goes. If it is interrupted, run it again.',
    )
    .argument(
      '<organization>',
      "id of the organization; 'deployment' for the key of the service keys and operator keys",
    )
    .allowExcessArguments(false)
    .action(async (organizationId: string) => {
      const { rotateOrganization } = await import('@custos/server/admin');
      const { rewrapped, finishesFromMs } = await rotateOrganization(process.env, { organizationId, say });
      const rest =
        finishesFromMs === undefined
          ? 'the earlier key is gone'
          : `run this again after ${new Date(finishesFromMs).toISOString()} to take the earlier key away`;
      const owner = organizationId === 'deployment' ? 'the deployment' : `organization ${organizationId}`;
      process.stdout.write(`${count(rewrapped, 'secret')} of ${owner} re-wrapped; ${rest}\n`);
    });
}

interface ServiceKeyFlags extends Omit<RotateFlags, 'wait'> {
  readonly compromised?: boolean;
  readonly publish?: number;
}

function rotateServiceKeyCommand(): Command {
  return new Command('rotate-service-key')
    .description(
      'Publish the next key of a role while the service runs: bundle-signer, session-signer, otp, oauth-secret, on-ramp-secret, oidc-issuer or webhook-signer. It is used once clients must have it; the old one stays until nothing of it is under way.',
    )
    .argument('<role>', 'role of the key')
    .option('--publish <hours>', 'how long it is published before it is used; a week unless clients fetch it', hours)
    .option('--compromised', 'use the new key five seconds later and destroy all others; if interrupted, run it again')
    .option('--yes', 'do not ask before keys are destroyed')
    .option('--dry-run', 'say what would be done, and change nothing')
    .allowExcessArguments(false)
    .action(async (role: string, { compromised = false, publish, yes = false, dryRun = false }: ServiceKeyFlags) => {
      const rotated = await rotateServiceKey(role, { compromised, yes, dryRun, publish });
      if (rotated === undefined) return leftAlone(dryRun);
      const { keyId, signsFromMs, removed } = rotated;
      const gone = removed.length === 0 ? '' : `; destroyed ${removed.join(', ')}`;
      process.stdout.write(
        `published ${role} key ${keyId}; it is used from ${new Date(signsFromMs).toISOString()}${gone}\n`,
      );
    });
}

function verifyCommand(): Command {
  return new Command('verify')
    .description(
      'Open every stored secret and report what does not open. Changes nothing; exit code 1 if any does not.',
    )
    .action(async () => {
      const { verify } = await import('@custos/server/admin');
      const { organizations, secrets, unopened } = await verify(
        process.env,
        ({ table, organizationId, id, missingRootKey }) => {
          const why = missingRootKey === undefined ? '' : `: it is under root key ${missingRootKey}, which is missing`;
          process.stdout.write(`not opened: ${table} ${id} of organization ${organizationId}${why}\n`);
        },
      );
      const outcome = unopened === 0 ? 'all open' : `${unopened} not opened`;
      process.stdout.write(
        `verified ${count(secrets, 'secret')} of ${count(organizations, 'organization')}: ${outcome}\n`,
      );
      process.exitCode = unopened === 0 ? 0 : 1;
    });
}

interface Expired {
  readonly ids: readonly string[];
  readonly left?: readonly string[];
  readonly doubt?: string;
}

function describeExpired({ ids, left = [], doubt }: Expired): string {
  if (left.length > 0)
    return ` It leaves ${left.join(', ')}, retired more than 30 days ago, in the key ring: with --yes, \`custos keyring retire\` destroys only the key that it names.`;
  if (doubt !== undefined) return ` Of the keys that were retired 30 days ago, ${doubt}.`;
  return ids.length === 0 ? '' : ` It also destroys ${ids.join(', ')}, retired more than 30 days ago.`;
}

function serveCommand(): Command {
  return new Command('serve')
    .description(
      'Hold the root key for services of another user, which connect to a socket. Uses CUSTOS_KEYRING, CUSTOS_KEYRING_KEY_FILE, CUSTOS_KEYRING_SERVICES, CUSTOS_ROOT_KEY and the limits of exports and imports.',
    )
    .action(async () => {
      const { serveKeyring } = await import('@custos/server/keyring-serve');
      const { path, rootKey, ring, close } = await serveKeyring(process.env);
      const made = ring === 'missing' ? ' (made for the first service that needs one)' : '';
      process.stdout.write(`The keyring serves at ${path}\n  root key  ${rootKey}${made}\n`);
      const stop = (): void => {
        void close().finally(() => process.exit(0));
      };
      process.once('SIGTERM', stop);
      process.once('SIGINT', stop);
    });
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;

function seconds(text: string): number {
  const value = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value <= WAIT_SECONDS_MAX) return value;
  throw new InvalidArgumentError(`It must be a whole number of seconds from 0 to ${WAIT_SECONDS_MAX}.`);
}

function hours(text: string): number {
  const value = /^[0-9]{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 1 && value <= HOURS_MAX) return value;
  throw new InvalidArgumentError(`It must be a whole number of hours from 1 to ${HOURS_MAX}.`);
}
