import { armor, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { beforeAll, describe, expect, test } from 'vitest';
import { decryptFile, isDecrypted } from './age-file.ts';
import { type Identity, readIdentities } from './identities.ts';
import { readKit } from './kit.ts';
import { RecoveryError } from './recovery-error.ts';

const KIT = {
  format: 'custos-recovery-kit',
  version: 1,
  about: '',
  madeAt: '2026-11-19T00:00:00.000Z',
  organization: { id: 'o', name: 'Organization' },
  recipients: ['age1'],
  wallets: [
    {
      id: 'w',
      name: 'Wallet',
      mnemonic: 'word word',
      language: 'english',
      passphrase: 'p',
      accounts: [{ name: 'first', curve: 'C', path: 'm/0', addressFormat: 'F', address: 'a' }],
    },
  ],
  privateKeys: [
    {
      id: 'k',
      name: 'Key',
      curve: 'C',
      privateKey: '00',
      addresses: [{ addressFormat: 'F', address: 'a', importKeyName: 'n', importKey: 'i' }],
    },
  ],
};

let identity: Identity;
let other: Identity;
let file: Uint8Array;

async function newIdentity(): Promise<Identity> {
  const secret = await generateX25519Identity();
  return { secret, recipient: await identityToRecipient(secret) };
}

async function encrypt(text: string | Uint8Array, ...recipients: readonly string[]): Promise<Uint8Array> {
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  return await encrypter.encrypt(text);
}

/** What a person is told; anything but a RecoveryError fails the test. */
async function told(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (error instanceof RecoveryError) return error.message;
    throw error;
  }
  return 'opened';
}

beforeAll(async () => {
  [identity, other] = [await newIdentity(), await newIdentity()];
  // Two chunks of the stream and a bit.
  file = await encrypt(JSON.stringify({ ...KIT, about: 'x'.repeat(140_000) }), identity.recipient);
});

describe('an encrypted file', () => {
  test('opens in its binary and its text form, with any of several identities', async () => {
    for (const form of [file, new TextEncoder().encode(armor.encode(file).replaceAll('\n', '\r\n'))]) {
      expect(isDecrypted(form)).toBe(false);
      const text = await decryptFile(form, [other, identity], 'kit.age');
      expect(readKit(text, 'kit.age').wallets).toEqual(KIT.wallets);
    }
    expect(isDecrypted(new TextEncoder().encode(' \n{"format"'))).toBe(true);
  });

  test('that is for others says for whom the identity is', async () => {
    expect(await told(() => decryptFile(file, [other], 'kit.age'))).toBe(
      `this identity does not open kit.age: it belongs to ${other.recipient}, and the kit is for others. The recipients are in the activity that made the kit`,
    );
    expect(await told(() => decryptFile(file, [other, other], 'kit.age'))).toContain(
      'none of these identities opens kit.age: they belong',
    );
  });

  test('that is cut off anywhere, or damaged in any range of bytes, is said to be that', async () => {
    const cuts = [0, 1, 20, 21, 22, 60, 100, 150, 180, 200, 216, 217, 300, 65_000, 65_780, file.length - 1];
    for (const length of cuts) {
      const message = await told(() => decryptFile(file.subarray(0, length), [identity], 'kit.age'));
      expect([length, message]).toEqual([
        length,
        expect.stringMatching(/^kit\.age is (empty|cut off|damaged or cut off)/),
      ]);
    }
    for (let at = 0; at < file.length; at += at < 260 ? 1 : 6_899) {
      const damaged = file.slice();
      damaged[at] = (damaged[at] ?? 0) ^ 0x15;
      const message = await told(() => decryptFile(damaged, [identity], 'kit.age'));
      expect([at, message]).toEqual([
        at,
        expect.stringMatching(/not encrypted with age|another version|damaged|does not open|passphrase|cut off/),
      ]);
    }
    const longer = new Uint8Array(file.length + 1);
    longer.set(file);
    expect(await told(() => decryptFile(longer, [identity], 'kit.age'))).toContain('damaged or cut off');
    const text = armor.encode(file);
    for (const wrong of [text.slice(0, -10), text.slice(0, 5000), text.replace('\n', '\n!')]) {
      expect(await told(() => decryptFile(new TextEncoder().encode(wrong), [identity], 'kit.age'))).toContain(
        'its text form has a mistake',
      );
    }
  });

  test('that is something else is said to be that', async () => {
    const bytes = (text: string) => new TextEncoder().encode(text);
    const tell = (content: Uint8Array) => told(() => decryptFile(content, [identity], 'kit.age'));
    expect(await tell(bytes('PK\u0003\u0004 a zip'))).toContain('is not encrypted with age');
    expect(await tell(bytes('age-encryption.org/v2\n-> X25519'))).toContain('of another version of the age format');
    const encrypter = new Encrypter();
    encrypter.setScryptWorkFactor(2);
    encrypter.setPassphrase('secret');
    expect(await tell(await encrypter.encrypt('{}'))).toContain(
      'is protected with a passphrase, so it is no recovery kit',
    );
    expect(await tell(await encrypt(Uint8Array.of(0xff, 0xfe), identity.recipient))).toContain('holds no text');
  });
});

describe('identities', () => {
  test('are read from a file of age-keygen, in either case', async () => {
    const keygen = `# created: 2026-11-19T00:00:00Z\n# public key: ${identity.recipient}\n${identity.secret}\n\n`;
    expect(await readIdentities(keygen, 'key.txt')).toEqual([identity]);
    expect(await readIdentities(`${identity.secret.toLowerCase()}\r\n${other.secret}`, 'key.txt')).toEqual([
      identity,
      other,
    ]);
  });

  test('that are none are refused for what they are, and never repeated', async () => {
    const { secret, recipient } = identity;
    const mistake = secret.replace(/.$/, (last) => (last === 'Q' ? 'P' : 'Q'));
    const encrypted = await encrypt(secret, recipient);
    const cases: [string, RegExp][] = [
      ['', /holds no identity/],
      ['# a comment', /holds no identity/],
      [recipient, /line 1: this is a recipient, which only encrypts/],
      [mistake, /line 1: this identity has a mistake in it/],
      [secret.slice(0, 40), /has a mistake in it/],
      [`\n${secret} trailing`, /line 2: this identity has a mistake in it/],
      ['AGE-PLUGIN-YUBIKEY-1QQP5QQQQ', /is on a device/],
      ['my dog has fleas', /is no identity of age/],
      ['-----BEGIN OPENSSH PRIVATE KEY-----\nx', /is an SSH or PEM key/],
      [armor.encode(encrypted), /is protected with a passphrase: decrypt it first/],
      [Buffer.from(encrypted).toString('latin1'), /is protected with a passphrase/],
    ];
    for (const [text, why] of cases) {
      const message = await told(() => readIdentities(text, 'key.txt'));
      expect(message).toMatch(why);
      for (const part of text.split('\n').filter((line) => line.length > 8)) expect(message).not.toContain(part);
    }
  });
});

describe('the contents', () => {
  const tell = (value: unknown) =>
    told(() => readKit(typeof value === 'string' ? value : JSON.stringify(value), 'kit.age'));

  test('are read as they are, without what this version does not know', () => {
    const { format: _, version: __, about: ___, ...known } = KIT;
    expect(readKit(JSON.stringify({ ...KIT, more: 1, wallets: [{ ...KIT.wallets[0], more: 1 }] }), 'kit.age')).toEqual(
      known,
    );
  });

  test('that are no kit, or of a newer version, are said to be that', async () => {
    expect(await tell('{')).toContain('it is no JSON');
    expect(await tell('[]')).toContain('is no object');
    expect(await tell({})).toContain('holds no recovery kit');
    expect(await tell({ ...KIT, version: 2 })).toContain('is a kit of version 2, and this program reads version 1');
    const [wallet] = KIT.wallets;
    expect(await tell({ ...KIT, wallets: {} })).toContain('wallets is no list');
    expect(await tell({ ...KIT, wallets: [{ ...wallet, mnemonic: 7 }] })).toContain('wallets[0].mnemonic is no text');
    expect(await tell({ ...KIT, wallets: [{ ...wallet, accounts: [null] }] })).toContain('wallets[0].accounts[0]');
    expect(await tell({ ...KIT, wallets: [{ ...wallet, passphrase: null }] })).toContain('passphrase is no text');
    expect(await tell({ ...KIT, recipients: [1] })).toContain('recipients is no list of texts');
  });
});
