import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Activity,
  ActivityFailedError,
  ActivityPendingError,
  ActivityRejectedError,
  type CustosClient,
  CustosError,
  NetworkError,
} from '@custos/sdk';
import { requireAbsent, writeNewFile } from './new-file.ts';

export interface KitOrder {
  readonly recipients: readonly string[];
  readonly out: string;
  /** One that was submitted before. */
  readonly activityId: string | undefined;
  /** Whether to wait until others have approved. */
  readonly waits: boolean;
}

type KitResult = Omit<Awaited<ReturnType<CustosClient['createRecoveryKit']>>, 'activity'>;

const TYPE = 'ACTIVITY_TYPE_CREATE_RECOVERY_KIT';
const RESULT_KEY = 'createRecoveryKitResult';
const LOOK_MS = 2000;
const SECRET = /^(?:AGE-(?:SECRET-KEY|PLUGIN)-|-----BEGIN )/i;

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Has a kit made, waits for approvals, and writes it. False where it waits for others and is not to be waited for. */
export async function makeKit(client: CustosClient, order: KitOrder): Promise<boolean> {
  requireAbsent(order.out);
  // The service refuses whatever is no recipient, but a secret must not leave this machine to be refused.
  if (order.recipients.some((recipient) => SECRET.test(recipient.trim()))) {
    throw new CustosError(
      'INVALID_OPTION',
      'a --recipient is an identity, which opens kits and must stay secret: give the recipient that belongs to it, which begins with age1 (`age-keygen -y FILE` shows it)',
    );
  }
  const activity = await activityOf(client, order);
  const settled = isOpen(activity) ? await waitFor(client, activity, order) : activity;
  if (settled === undefined) return false;
  const result = resultOf(settled);
  writeNewFile(order.out, await fetchKit(client, settled.organizationId, result));
  const { walletCount, privateKeyCount, sizeBytes, sha256 } = result;
  process.stdout.write(
    `wrote ${order.out}: ${walletCount} wallet${walletCount === 1 ? '' : 's'}, ${privateKeyCount} private key${privateKeyCount === 1 ? '' : 's'}, ${sizeBytes} bytes\nSHA-256 ${sha256}\n`,
  );
  say(`Check that it opens: custos recovery open ${order.out} --identity FILE --addresses`);
  say('Wallets that are created from now on are not in it: make another kit then.');
  return true;
}

async function activityOf(client: CustosClient, { recipients, activityId }: KitOrder): Promise<Activity> {
  if (activityId !== undefined) {
    const { activity } = await client.getActivity({ activityId });
    if (activity.type === TYPE) return activity;
    throw new CustosError('INVALID_OPTION', `activity ${activityId} makes no recovery kit: it is ${activity.type}`);
  }
  try {
    return (await client.createRecoveryKit({ recipients: [...recipients] })).activity;
  } catch (error) {
    if (error instanceof ActivityPendingError) return error.activity;
    throw error;
  }
}

const isOpen = ({ status }: Activity): boolean =>
  status !== 'ACTIVITY_STATUS_COMPLETED' &&
  status !== 'ACTIVITY_STATUS_FAILED' &&
  status !== 'ACTIVITY_STATUS_REJECTED';

/** Until it is approved, rejected or failed. Whoever ends the command before goes on with the activity's id. */
async function waitFor(
  client: CustosClient,
  { id, organizationId, fingerprint, ...first }: Activity,
  { out, waits }: KitOrder,
): Promise<Activity | undefined> {
  say(`Activity ${id} waits for approvals. Others read the recipients with: custos describe ${id}`);
  say(
    `and approve it in the console, or with: custos api approve_activity --organization ${organizationId} --parameters '{"fingerprint":"${fingerprint}"}'`,
  );
  say(`To go on later: custos recovery-kit --activity ${id} --out ${out}`);
  if (!waits) return undefined;
  let votes = first.votes.length;
  let isAway = false;
  for (;;) {
    await pause(LOOK_MS);
    const found = await client.getActivity({ activityId: id }).catch((error: unknown) => {
      if (!(error instanceof NetworkError)) throw error;
      if (!isAway) say(`${error.message}; trying again`);
      return undefined;
    });
    isAway = found === undefined;
    if (found === undefined) continue;
    const { activity } = found;
    if (!isOpen(activity)) return activity;
    if (activity.votes.length !== votes) say(`${activity.votes.length} votes so far`);
    votes = activity.votes.length;
  }
}

function resultOf(activity: Activity): KitResult {
  if (activity.status === 'ACTIVITY_STATUS_FAILED') throw new ActivityFailedError(activity);
  if (activity.status === 'ACTIVITY_STATUS_REJECTED') throw new ActivityRejectedError(activity);
  return activity.result[RESULT_KEY] as KitResult;
}

/** The file from its pieces, compared with what the activity says of it. */
async function fetchKit(client: CustosClient, organizationId: string, result: KitResult): Promise<Uint8Array> {
  const { recoveryKitId, pieceCount, sizeBytes, sha256 } = result;
  const pieces: Uint8Array[] = [];
  for (let position = 0; position < pieceCount; position += 1) {
    const { piece } = await client.getRecoveryKit({ recoveryKitId, piece: position }, { organizationId }).catch(absent);
    pieces.push(Buffer.from(piece?.content ?? '', 'base64'));
  }
  const kit = Buffer.concat(pieces);
  const found = createHash('sha256').update(kit).digest('hex');
  if (kit.length === sizeBytes && found === sha256) return kit;
  throw new CustosError(
    'UNEXPECTED_ANSWER',
    `the kit that the service gave is not the one that the activity made (SHA-256 ${found}, not ${sha256}): nothing was written; make another kit, and have somebody look at the database`,
  );
}

function absent(error: unknown): never {
  if (error instanceof CustosError && error.code === 'RESOURCE_NOT_FOUND') {
    throw new CustosError(
      error.code,
      'the service has this kit no more: it keeps the newest five, and kits can be deleted. Make another one',
    );
  }
  throw error;
}
