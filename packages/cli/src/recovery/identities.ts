import { identityToRecipient } from 'age-encryption';
import { RecoveryError } from './recovery-error.ts';

// Nothing in this folder needs Node.js: a page opens kits with it too.

/** A secret that opens kits, with the recipient that belongs to it. */
export interface Identity {
  readonly secret: string;
  readonly recipient: string;
}

const ARMOR = '-----BEGIN AGE ENCRYPTED FILE-----';
const VERSION = 'age-encryption.org/v1';

/** The identities of a file as `age-keygen` writes it, or of a text that somebody pasted. Errors do not repeat what they are about. */
export async function readIdentities(text: string, name: string): Promise<Identity[]> {
  const trimmed = text.trim();
  if (trimmed.startsWith(VERSION) || trimmed.startsWith(ARMOR)) {
    throw new RecoveryError(
      `${name} is protected with a passphrase: decrypt it first with \`age -d\`, and give what that prints`,
    );
  }
  if (/^-----BEGIN [A-Z ]*PRIVATE KEY/.test(trimmed)) {
    throw new RecoveryError(
      `${name} is an SSH or PEM key: kits are for identities of age, which begin with AGE-SECRET-KEY-1`,
    );
  }
  const identities: Identity[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const entry = line.trim();
    if (entry === '' || entry.startsWith('#')) continue;
    identities.push(await readIdentity(entry, `${name}, line ${index + 1}`));
  }
  if (identities.length === 0) {
    throw new RecoveryError(`${name} holds no identity: it is a line that begins with AGE-SECRET-KEY-1`);
  }
  return identities;
}

async function readIdentity(entry: string, where: string): Promise<Identity> {
  if (/^age1/i.test(entry)) {
    throw new RecoveryError(
      `${where}: this is a recipient, which only encrypts. The identity begins with AGE-SECRET-KEY-1`,
    );
  }
  if (/^AGE-PLUGIN-/i.test(entry)) {
    throw new RecoveryError(
      `${where}: this identity is on a device: decrypt the kit with age and its plugin (\`age -d -i IDENTITY KIT\`), and open what that prints`,
    );
  }
  if (!/^AGE-SECRET-KEY-/i.test(entry)) {
    throw new RecoveryError(`${where}: this is no identity of age, which begins with AGE-SECRET-KEY-1`);
  }
  // Some printers and people change the case; both are good in bech32, as long as they are not mixed.
  const secret = entry === entry.toLowerCase() ? entry.toUpperCase() : entry;
  try {
    return { secret, recipient: await identityToRecipient(secret) };
  } catch {
    throw new RecoveryError(
      `${where}: this identity has a mistake in it, or a part is missing: compare it with the original, letter by letter`,
    );
  }
}
