import { chainOf } from './chains.ts';
import type { CheckedAddress, CheckedKit, CheckedPrivateKey, CheckedWallet } from './check-kit.ts';
import { plain } from './plain.ts';

export interface KitView {
  readonly showsSecrets: boolean;
  /** Of accounts, whose words are enough as a rule. */
  readonly showsPrivateKeys: boolean;
}

/**
 * For people. The kit may be anybody's who can replace the file, so that nothing in it turns a terminal around or begins a
 * line: each line is shown with everything invisible written out.
 */
export function toText(checked: CheckedKit, view: KitView): string {
  const { kit } = checked;
  const lines = [
    `Recovery kit of ${kit.organization.name} (${kit.organization.id}), made ${kit.madeAt}`,
    verdictOf(checked),
    ...checked.wallets.flatMap((wallet) => ['', ...walletLines(wallet, view)]),
    ...checked.privateKeys.flatMap((key) => ['', ...privateKeyLines(key, view)]),
  ];
  return `${lines.map(plain).join('\n')}\n`;
}

export function verdictOf({ kit, counts }: CheckedKit): string {
  const what = `${counted(kit.wallets.length, 'wallet')}, ${counted(kit.privateKeys.length, 'private key')}`;
  const { same, different, unknown } = counts;
  const checks = [
    same + different === 0
      ? 'no address was compared'
      : different === 0
        ? `${counted(same, 'address', 'addresses')} computed again, and all are the same`
        : `${counted(different, 'ADDRESS DIFFERS', 'ADDRESSES DIFFER')} from what the words and keys lead to, ${same} are the same`,
    ...(unknown === 0
      ? []
      : [
          `${counted(unknown, 'address', 'addresses')} could NOT be computed, of a kind that this version does not know`,
        ]),
  ];
  return `${what}; ${checks.join('; ')}`;
}

function walletLines({ wallet, accounts }: CheckedWallet, { showsSecrets, showsPrivateKeys }: KitView): string[] {
  const words = wallet.mnemonic.split(' ').length;
  return [
    `Wallet ${wallet.name} (${wallet.id})`,
    ...(showsSecrets ? [`  ${words} words   ${wallet.mnemonic}`] : []),
    ...(showsSecrets && wallet.language !== 'english' ? [`  language   ${wallet.language}`] : []),
    ...(wallet.passphrase === undefined
      ? []
      : [showsSecrets ? `  passphrase ${JSON.stringify(wallet.passphrase)}` : '  with a passphrase']),
    ...accounts.flatMap((account) => [
      `  ${account.address}${account.name === undefined ? '' : `  ${account.name}`}`,
      `    ${chainOf(account.addressFormat)}, ${account.path}${remark(account)}`,
      ...(showsSecrets && showsPrivateKeys ? keyLines(account) : []),
    ]),
  ];
}

function privateKeyLines({ privateKey, addresses }: CheckedPrivateKey, { showsSecrets }: KitView): string[] {
  return [
    `Private key ${privateKey.name} (${privateKey.id}), ${privateKey.curve.replace(/^CURVE_/, '').toLowerCase()}`,
    ...(showsSecrets ? [`  Hexadecimal  ${privateKey.privateKey}`] : []),
    ...addresses.flatMap((address) => [
      `  ${address.address}`,
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

/** As JSON, in which what would turn a terminal around is spelled in another way that means the same. */
export const toJsonText = (checked: CheckedKit, view: KitView): string =>
  `${JSON.stringify(toJson(checked, view), null, 2).replace(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu, (found) =>
    [...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )}\n`;
