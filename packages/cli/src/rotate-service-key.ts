import { confirmation } from './confirm.ts';

const HOUR_MS = 3_600_000;

interface Rotated {
  readonly keyId: string;
  readonly signsFromMs: number;
  readonly removed: readonly string[];
}

interface ServiceKeyFlags {
  readonly compromised: boolean;
  readonly yes: boolean;
  readonly dryRun: boolean;
  /** In hours. */
  readonly publish?: number | undefined;
}

/** Makes the next service key of a role. Undefined when that was not agreed to, or only to be looked at. */
export async function rotateServiceKey(
  role: string,
  { compromised, yes, dryRun, publish }: ServiceKeyFlags,
): Promise<Rotated | undefined> {
  const asking = (what: string) => confirmation({ yes, dryRun }, what);
  // Where keys are destroyed it is known at once whether anybody can be asked.
  const ask = compromised || dryRun ? asking(`this destroys ${role} keys`) : undefined;
  // Loaded here: commands that only talk to a service must not wait for the whole of it to load.
  const admin = await import('@custos/server/admin');
  return await admin.rotateServiceKey(process.env, {
    role,
    isCompromised: compromised,
    ...(publish !== undefined && { publishedMs: publish * HOUR_MS }),
    say: (line) => process.stderr.write(`${line}\n`),
    confirm: async ({ usedAfterMs, destroys, doubt }) => {
      // Nothing is lost otherwise, so that nobody is asked.
      if (ask === undefined && doubt === undefined) return true;
      const lost = 'everything under way with them is lost (docs/guides/key-rotation.md#service-keys)';
      const rest = destroys.length === 0 ? '' : `, and destroys ${destroys.join(', ')}: ${lost}`;
      const clock = doubt === undefined ? '' : ` By a clock that may be wrong: ${doubt}.`;
      const after = `${usedAfterMs / 1000} seconds`;
      const question = `This publishes a new ${role} key, which is used after ${after}${rest}.${clock}`;
      return await (ask ?? asking(doubt ?? ''))(question);
    },
  });
}

/** Who declines has not got what the command is for; who only looks has. */
export function leftAlone(dryRun: boolean): void {
  if (dryRun) return;
  process.stderr.write('Nothing was changed.\n');
  process.exitCode = 1;
}
