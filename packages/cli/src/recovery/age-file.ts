import { armor, Decrypter } from 'age-encryption';
import type { Identity } from './identities.ts';
import { RecoveryError } from './recovery-error.ts';

const VERSION = 'age-encryption.org/v1';
const ARMOR = '-----BEGIN AGE ENCRYPTED FILE-----';
/** More than a header with as many recipients as a kit can have. */
const HEADER_BYTES_MAX = 16 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true });
const latin1 = new TextDecoder('latin1');

/** Whether this is a kit that was decrypted before, with age itself. */
export const isDecrypted = (file: Uint8Array): boolean => /^\s*\{/.test(latin1.decode(file.subarray(0, 64)));

/** The plaintext of an encrypted file, binary or armored, by any of the identities. */
export async function decryptFile(file: Uint8Array, identities: readonly Identity[], name: string): Promise<string> {
  const bytes = binaryOf(file, name);
  const kinds = recipientKinds(bytes, name);
  if (kinds.includes('scrypt')) {
    throw new RecoveryError(
      `${name} is protected with a passphrase, so it is no recovery kit: those are for recipients`,
    );
  }
  const decrypter = new Decrypter();
  for (const { secret } of identities) decrypter.addIdentity(secret);
  let plaintext: Uint8Array;
  try {
    plaintext = await decrypter.decrypt(bytes);
  } catch (error) {
    throw explained(error, identities, name);
  }
  try {
    return utf8.decode(plaintext);
  } catch {
    throw new RecoveryError(`${name} opens, but holds no text: it is no recovery kit`);
  } finally {
    plaintext.fill(0);
  }
}

function binaryOf(file: Uint8Array, name: string): Uint8Array {
  const beginning = latin1.decode(file.subarray(0, 4096));
  if (file.length === 0) throw new RecoveryError(`${name} is empty`);
  if (beginning.trimStart().startsWith(ARMOR)) {
    try {
      return armor.decode(latin1.decode(file));
    } catch {
      throw new RecoveryError(`${name} is damaged or cut off: its text form has a mistake. Take another copy of it`);
    }
  }
  if (beginning.startsWith(`${VERSION}\n`)) return file;
  if (VERSION.startsWith(beginning)) throw cutOff(name);
  if (beginning.startsWith('age-encryption.org/')) {
    throw new RecoveryError(`${name} is of another version of the age format than this program reads (version 1)`);
  }
  throw new RecoveryError(`${name} is not encrypted with age: it is no recovery kit, or its beginning is damaged`);
}

/** The kinds of the header's stanzas. */
function recipientKinds(bytes: Uint8Array, name: string): string[] {
  const header = latin1.decode(bytes.subarray(0, HEADER_BYTES_MAX));
  const end = /^--- .*\n/m.exec(header);
  if (end === null) {
    if (bytes.length < HEADER_BYTES_MAX) throw cutOff(name);
    throw new RecoveryError(`${name} has a damaged header. Take another copy of it`);
  }
  return [...header.slice(0, end.index).matchAll(/^-> (\S+)/gm)].map(([, kind]) => kind as string);
}

const cutOff = (name: string): RecoveryError =>
  new RecoveryError(`${name} is cut off: only its beginning is here. Take another copy of it`);

function explained(error: unknown, identities: readonly Identity[], name: string): RecoveryError {
  const message = error instanceof Error ? error.message : '';
  if (message.includes('no identity matched')) {
    const own = identities.map(({ recipient }) => recipient).join(', ');
    const [fails, belongs] =
      identities.length === 1
        ? [`this identity does not open ${name}`, 'it belongs']
        : [`none of these identities opens ${name}`, 'they belong'];
    return new RecoveryError(
      `${fails}: ${belongs} to ${own}, and the kit is for others. The recipients are in the activity that made the kit`,
    );
  }
  if (/stanza|header|version|HMAC/i.test(message)) {
    return new RecoveryError(`${name} has a damaged header. Take another copy of it`);
  }
  return new RecoveryError(
    `${name} is damaged or cut off: not all of it decrypts. Take another copy of it, and compare its SHA-256 with that of the activity that made it`,
  );
}
