import { chainOf } from '../recovery/chains.ts';
import type { CheckedAddress, CheckedKit, CheckedPrivateKey, CheckedWallet } from '../recovery/check-kit.ts';
import { lengthOf, momentOf, plain, typed } from '../recovery/plain.ts';
import { h } from './dom.ts';

/** Builds what is printed, prints it, and takes it away again: secrets are in the page for no longer than that. */
export function printKit(
  { kit }: CheckedKit,
  entries: readonly (CheckedWallet | CheckedPrivateKey)[],
  showsSecrets: boolean,
): void {
  const sheet = h(
    'div',
    { class: 'sheet' },
    h('h1', {}, `Recovery kit of ${plain(kit.organization.name)}`),
    h(
      'p',
      {},
      `Made ${momentOf(kit.madeAt)}. ${showsSecrets ? 'Whoever reads this owns everything in these wallets.' : 'Addresses only.'}`,
    ),
    ...entries.map((entry) => ('wallet' in entry ? walletPart(entry, showsSecrets) : keyPart(entry, showsSecrets))),
  );
  const remove = (): void => sheet.remove();
  addEventListener('afterprint', remove, { once: true });
  document.body.append(sheet);
  print();
  // Where printing does not wait and tells nothing.
  setTimeout(remove, 60_000);
}

function walletPart({ wallet, accounts }: CheckedWallet, showsSecrets: boolean): HTMLElement {
  const words = wallet.mnemonic.split(' ');
  return h(
    'section',
    {},
    h('h2', {}, `Wallet ${plain(wallet.name)}`),
    showsSecrets && h('ol', { class: 'words' }, ...words.map((word) => h('li', {}, word))),
    showsSecrets &&
      wallet.passphrase !== undefined &&
      h('p', {}, `Passphrase, ${lengthOf(wallet.passphrase)}: `, h('code', {}, typed(wallet.passphrase))),
    h(
      'ul',
      {},
      ...accounts.map((account) =>
        h(
          'li',
          {},
          h('code', {}, plain(account.address)),
          h(
            'p',
            {},
            `${chainOf(account.addressFormat)}, ${plain(account.path)}${account.name === undefined ? '' : `, ${plain(account.name)}`}${remark(account)}`,
          ),
        ),
      ),
    ),
  );
}

function keyPart({ privateKey, addresses }: CheckedPrivateKey, showsSecrets: boolean): HTMLElement {
  return h(
    'section',
    {},
    h('h2', {}, `Private key ${plain(privateKey.name)}`),
    showsSecrets && h('p', {}, 'Hexadecimal: ', h('code', {}, plain(privateKey.privateKey))),
    h(
      'ul',
      {},
      ...addresses.map((address) =>
        h(
          'li',
          {},
          h('code', {}, plain(address.address)),
          h('p', {}, `${chainOf(address.addressFormat)}${remark(address)}`),
          showsSecrets &&
            address.key !== undefined &&
            h('p', {}, `${address.key.name}: `, h('code', {}, address.key.text)),
        ),
      ),
    ),
  );
}

const remark = ({ verdict }: CheckedAddress): string =>
  verdict === 'same' ? '' : verdict === 'unknown' ? ' (not computed)' : ' (NOT what the words and keys lead to)';
