import { fstatSync, readFileSync } from 'node:fs';
import { confirmation } from '../confirm.ts';
import { decryptFile, isDecrypted } from './age-file.ts';
import { type CheckedKit, checkKit } from './check-kit.ts';
import { type Identity, readIdentities } from './identities.ts';
import { readKit } from './kit.ts';
import { plain } from './plain.ts';
import { toJsonText, toText } from './print-kit.ts';
import { RecoveryError } from './recovery-error.ts';

interface OpenOptions {
  readonly identity?: readonly string[];
  readonly json?: boolean;
  readonly addresses?: boolean;
  readonly privateKeys?: boolean;
  readonly yes?: boolean;
}

/** Larger ones the keyring does not make; what is read here is held in memory. */
const KIT_BYTES_MAX = 128 * 1024 * 1024;
const SECONDS_SHOWN_MIN = 2;
const OTHERS_READ = 0o044;

/** Prints a kit, and answers with the exit code. */
export async function openKit(file: string, options: OpenOptions): Promise<number> {
  const { addresses = false, privateKeys = false, json = false, yes = false } = options;
  if (addresses && privateKeys) throw new RecoveryError('--addresses shows no secret: leave out --private-keys');
  const showsSecrets = !addresses;
  if (showsSecrets && !yes) requirePrivateOutput();
  const identities = await readAll(options.identity ?? []);
  const bytes = read(file, 'the kit');
  const text = isDecrypted(bytes) ? bytes.toString('utf8') : await decrypt(bytes, identities, file);
  const checked = await checkKit(readKit(text, file), progressOf());
  if (showsSecrets && process.stdout.isTTY === true && !yes && !(await agrees(checked))) return 2;
  const view = { showsSecrets, showsPrivateKeys: privateKeys };
  process.stdout.write(json ? toJsonText(checked, view) : toText(checked, view));
  return checked.counts.different > 0 ? 1 : 0;
}

async function decrypt(bytes: Uint8Array, identities: readonly Identity[], file: string): Promise<string> {
  if (identities.length > 0) return await decryptFile(bytes, identities, file);
  throw new RecoveryError(`${file} is encrypted: name the file with an identity that opens it with --identity`);
}

async function readAll(files: readonly string[]): Promise<Identity[]> {
  const identities: Identity[] = [];
  for (const file of files)
    identities.push(...(await readIdentities(read(file, 'the identity').toString('utf8'), file)));
  return identities;
}

function read(file: string, what: string): Buffer {
  try {
    const bytes = readFileSync(file);
    if (bytes.length <= KIT_BYTES_MAX) return bytes;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new RecoveryError(
      code === 'ENOENT' ? `${file} is not there: name ${what}` : `cannot read ${what} in ${file}: ${message}`,
    );
  }
  throw new RecoveryError(`${file} is too large for ${what}`);
}

/** A shell makes the file of `> FILE` as its mask says, which as a rule lets everybody on the machine read it. */
function requirePrivateOutput(): void {
  if (process.platform === 'win32') return;
  const stat = fstatSync(process.stdout.fd, { bigint: false });
  if (!stat.isFile() || (stat.mode & OTHERS_READ) === 0) return;
  throw new RecoveryError(
    'the secrets would go to a file that others on this machine can read: say `umask 077` in this shell and remove the file first, or --yes if that is meant',
  );
}

async function agrees({ kit }: CheckedKit): Promise<boolean> {
  const ask = confirmation({ yes: false }, 'this shows secrets on a terminal');
  return await ask(
    `This shows the words and keys of ${plain(kit.organization.name)} on the screen, where others, cameras and the terminal's own history may see them. Whoever has them owns everything in these wallets. --addresses shows no secret.`,
  );
}

/** A line that is written over, where somebody looks and it takes long. */
function progressOf(): (done: number) => void {
  const startedAtMs = performance.now();
  let isShown = false;
  return (done) => {
    if (process.stderr.isTTY !== true || performance.now() - startedAtMs < SECONDS_SHOWN_MIN * 1000) return;
    if (!isShown) process.on('exit', () => process.stderr.write('\r\u001b[K'));
    isShown = true;
    process.stderr.write(`\r${done} wallets and keys computed`);
  };
}
