import { constants, open } from 'node:fs/promises';
import { KeyringError } from '../errors.ts';
import { errorCode } from '../seal/private-file.ts';

const KEY_BYTES = 32;
const TEXT_BYTES_MAX = 256;
const SPACES: ReadonlySet<number> = new Set(Buffer.from(' \t\r\n'));
/** A group may read it: that is how a supervisor hands one file to two users. */
const FOREIGN_ACCESS = 0o037;

/** The key that a service and its keyring share: 64 hexadecimal digits in a file that nobody else can read. */
export async function readLinkKey(path: string): Promise<Uint8Array> {
  const bytes = Buffer.alloc(TEXT_BYTES_MAX + 1);
  try {
    const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) throw invalid(path, 'is not a regular file');
      if ((stat.mode & FOREIGN_ACCESS) !== 0) {
        const shown = (stat.mode & 0o777).toString(8).padStart(4, '0');
        throw invalid(
          path,
          `has mode ${shown}: nobody but its owner and its group may read it, as with mode 0640 or 0600`,
        );
      }
      let length = 0;
      for (let read = 1; read > 0 && length < bytes.length; length += read) {
        ({ bytesRead: read } = await handle.read(bytes, length, bytes.length - length, length));
      }
      const key = decodeKey(bytes.subarray(0, length));
      if (key === undefined) throw invalid(path, 'does not hold 64 hexadecimal digits');
      return key;
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw error instanceof KeyringError ? error : invalid(path, `cannot be read (${errorCode(error)})`);
  } finally {
    bytes.fill(0);
  }
}

/** Without a string in between, which nobody could wipe. Spaces and line ends may follow the digits. */
function decodeKey(text: Uint8Array): Uint8Array | undefined {
  if (text.subarray(2 * KEY_BYTES).some((byte) => !SPACES.has(byte))) return undefined;
  const key = new Uint8Array(KEY_BYTES);
  for (let at = 0; at < 2 * KEY_BYTES; at += 1) {
    const digit = digitOf(text[at]);
    if (digit === undefined) {
      key.fill(0);
      return undefined;
    }
    key[at >> 1] = ((key[at >> 1] as number) << 4) | digit;
  }
  return key;
}

function digitOf(byte = 0): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined;
}

const invalid = (path: string, problem: string): KeyringError =>
  new KeyringError('INVALID_INPUT', `the key file of the keyring's socket, ${path}, ${problem}`);
