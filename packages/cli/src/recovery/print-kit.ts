import { chainOf } from './chains.ts';
import type { CheckedAddress, CheckedKit, CheckedPrivateKey, CheckedWallet } from './check-kit.ts';

export interface KitView {
  readonly showsSecrets: boolean;
  /** Of accounts, whose words are enough as a rule. */
  readonly showsPrivateKeys: boolean;
}

/** For people. Names of others are shown with everything invisible written out. */
export function toText(checked: CheckedKit, view: KitView): string {
  const { kit } = checked;
  const lines = [
    `Recovery kit of ${shown(kit.organization.name)} (${shown(kit.organization.id)}), made ${shown(kit.madeAt)}`,
    verdictOf(checked),
    ...checked.wallets.flatMap((wallet) => ['', ...walletLines(wallet, view)]),
    ...checked.privateKeys.flatMap((key) => ['', ...privateKeyLines(key, view)]),
  ];
  return `${lines.join('\n')}\n`;
}

export function verdictOf({ kit, counts }: CheckedKit): string {
  const what = `${counted(kit.wallets.length, 'wallet')}, ${counted(kit.privateKeys.length, 'private key')}`;
  const { same, different, unknown } = counts;
  const checks = [
    different === 0
      ? `${counted(same, 'address', 'addresses')} computed again, and all are the same`
      : `${counted(different, 'ADDRESS DIFFERS', 'ADDRESSES DIFFER')} from what the words and keys lead to, ${same} are the same`,
    ...(unknown === 0 ? [] : [`${counted(unknown, 'address', 'addresses')} of a kind that this version does not know`]),
  ];
  return `${what}; ${checks.join('; ')}`;
}

function walletLines({ wallet, accounts }: CheckedWallet, { showsSecrets, showsPrivateKeys }: KitView): string[] {
  const words = wallet.mnemonic.split(' ').length;
  return [
    `Wallet ${shown(wallet.name)} (${shown(wallet.id)})`,
    ...(showsSecrets ? [`  ${words} words   ${wallet.mnemonic}`] : []),
    ...(showsSecrets && wallet.language !== 'english' ? [`  language   ${shown(wallet.language)}`] : []),
    ...(wallet.passphrase === undefined
      ? []
      : [showsSecrets ? `  passphrase ${JSON.stringify(wallet.passphrase)}` : '  with a passphrase']),
    ...accounts.flatMap((account) => [
      `  ${account.address}${account.name === undefined ? '' : `  ${shown(account.name)}`}`,
      `    ${chainOf(account.addressFormat)}, ${shown(account.path)}${remark(account)}`,
      ...(showsSecrets && showsPrivateKeys ? keyLines(account) : []),
    ]),
  ];
}

function privateKeyLines({ privateKey, addresses }: CheckedPrivateKey, { showsSecrets }: KitView): string[] {
  return [
    `Private key ${shown(privateKey.name)} (${shown(privateKey.id)}), ${privateKey.curve.replace(/^CURVE_/, '').toLowerCase()}`,
    ...(showsSecrets ? [`  Hexadecimal  ${shown(privateKey.privateKey)}`] : []),
    ...addresses.flatMap((address) => [
      `  ${shown(address.address)}`,
      `    ${chainOf(address.addressFormat)}${remark(address)}`,
      ...(showsSecrets ? keyLines(address) : []),
    ]),
  ];
}

const keyLines = ({ key }: CheckedAddress): string[] => (key === undefined ? [] : [`    ${key.name}  ${key.text}`]);

function remark({ verdict, computed }: CheckedAddress): string {
  if (verdict === 'same') return '';
  if (verdict === 'unknown') return ': NOT COMPUTED, this version does not know its kind';
  return computed === undefined ? ': DIFFERS, nothing can be computed' : `: DIFFERS, computed is ${computed}`;
}

/** What would turn a terminal around, or show nothing, is written out. */
const shown = (text: string): string =>
  text.replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (found) => `[U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
  );

const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** For programs: everything that the view shows, and what became of each address. */
export function toJson({ kit, wallets, privateKeys, counts }: CheckedKit, { showsSecrets, showsPrivateKeys }: KitView) {
  const addressOf = ({ key, ...address }: CheckedAddress, showsKey: boolean) => ({
    ...address,
    chain: chainOf(address.addressFormat),
    ...(showsKey && key !== undefined && { importKeyName: key.name, importKey: key.text }),
  });
  return {
    madeAt: kit.madeAt,
    organization: kit.organization,
    recipients: kit.recipients,
    addresses: counts,
    wallets: wallets.map(({ wallet, accounts }) => ({
      id: wallet.id,
      name: wallet.name,
      ...(showsSecrets && {
        mnemonic: wallet.mnemonic,
        language: wallet.language,
        ...(wallet.passphrase !== undefined && { passphrase: wallet.passphrase }),
      }),
      accounts: accounts.map((account) => addressOf(account, showsSecrets && showsPrivateKeys)),
    })),
    privateKeys: privateKeys.map(({ privateKey, addresses }) => ({
      id: privateKey.id,
      name: privateKey.name,
      curve: privateKey.curve,
      ...(showsSecrets && { privateKey: privateKey.privateKey }),
      addresses: addresses.map((address) => addressOf(address, showsSecrets)),
    })),
  };
}
