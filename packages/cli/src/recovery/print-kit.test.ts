import { expect, test } from 'vitest';
import { chainOf } from './chains.ts';
import { checkKit } from './check-kit.ts';
import { type RecoveryKit, readKit } from './kit.ts';
import { toJson, toJsonText, toText } from './print-kit.ts';

const ALL = { showsSecrets: true, showsPrivateKeys: true };

/** As somebody may have made it who can only replace the file: anyone can encrypt to the same recipients. */
const HOSTILE = '\u001b[2J\u009b31m\u202e\r\n';

function hostileKit(): RecoveryKit {
  const addresses = [
    { addressFormat: `ADDRESS_FORMAT_${HOSTILE}`, address: HOSTILE, importKeyName: HOSTILE, importKey: HOSTILE },
  ];
  const text = JSON.stringify({
    format: 'custos-recovery-kit',
    version: 1,
    madeAt: HOSTILE,
    organization: { id: HOSTILE, name: HOSTILE },
    recipients: [HOSTILE],
    wallets: [
      {
        id: HOSTILE,
        name: HOSTILE,
        mnemonic: HOSTILE,
        language: HOSTILE,
        passphrase: HOSTILE,
        accounts: [{ name: HOSTILE, curve: HOSTILE, path: HOSTILE, ...addresses[0] }],
      },
    ],
    privateKeys: [{ id: HOSTILE, name: HOSTILE, curve: HOSTILE, privateKey: HOSTILE, addresses }],
  });
  return readKit(text, 'kit.json');
}

const wouldTurn = (text: string): boolean => /[\p{C}\p{Zl}\p{Zp}]/u.test(text.replaceAll('\n', ''));

test('nothing of a kit reaches a terminal but what is shown', async () => {
  const checked = await checkKit(hostileKit());
  const text = toText(checked, ALL);
  expect(wouldTurn(text)).toBe(false);
  // No text of the kit begins a line of its own.
  expect(text.split('\n').filter((line) => line.startsWith('[U+000A]'))).toEqual([]);
  const json = toJsonText(checked, ALL);
  expect(wouldTurn(json)).toBe(false);
  expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(toJson(checked, ALL))));
});

test('a version that is none is not repeated', () => {
  const text = JSON.stringify({ format: 'custos-recovery-kit', version: HOSTILE });
  expect(() => readKit(text, 'kit.json')).toThrow(/^kit\.json is a kit of another version, and this program reads/);
});

test('a format with the name of something in every object is a format like any other', () => {
  expect(chainOf('ADDRESS_FORMAT_constructor')).toBe('constructor');
  expect(chainOf('__proto__')).toBe('__proto__');
});

test('an address that was not compared is not among those that are the same', async () => {
  const kit = hostileKit();
  expect(toText(await checkKit(kit), { showsSecrets: false, showsPrivateKeys: false })).toContain(
    '2 addresses could NOT be computed',
  );
});
