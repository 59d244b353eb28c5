import { chainOf } from '../recovery/chains.ts';
import type { CheckedAddress, CheckedKit, CheckedPrivateKey, CheckedWallet, KeyTextOf } from '../recovery/check-kit.ts';
import { lengthOf, momentOf, plain, typed } from '../recovery/plain.ts';
import { announce, button, copyButton, h, icon, note } from './dom.ts';
import { printKit } from './print.ts';

/** More cards at once make a page slow; a search finds the others. */
const CARDS_SHOWN = 50;

type Entry = { readonly wallet: CheckedWallet } | { readonly key: CheckedPrivateKey };

/** What is in the kit. Secrets are in the page only while they are shown. */
export function kitView(kit: CheckedKit, close: () => void): HTMLElement {
  const entries: readonly Entry[] = [
    ...kit.wallets.map((wallet) => ({ wallet })),
    ...kit.privateKeys.map((key) => ({ key })),
  ];
  const list = h('div', { class: 'cards' });
  const more = h('div', { class: 'more' });
  const count = h('p', { class: 'meta', role: 'status' });
  let found = entries;
  let shown = 0;
  const showMore = (): void => {
    const next = found.slice(shown, shown + CARDS_SHOWN);
    list.append(...next.map(cardOf));
    shown += next.length;
    more.replaceChildren(
      ...(shown < found.length ? [button(`Show ${Math.min(CARDS_SHOWN, found.length - shown)} more`, showMore)] : []),
    );
    count.textContent = found.length === entries.length ? '' : `${found.length} of ${entries.length}`;
  };
  const search = h('input', {
    id: 'search',
    class: 'input',
    type: 'search',
    placeholder: 'Name, address or path',
    autocomplete: 'off',
  });
  const find = (): void => {
    const wanted = search.value.trim().toLowerCase();
    found = wanted === '' ? entries : entries.filter((entry) => textOf(entry).includes(wanted));
    shown = 0;
    list.replaceChildren();
    showMore();
  };
  search.addEventListener('input', find);
  const printing = h('div', { class: 'print', role: 'status' });
  const askToPrint = (): void => {
    const what = found.length === entries.length ? 'everything in this kit' : `the ${found.length} that were found`;
    printing.replaceChildren(
      note(
        'wait',
        'A printer keeps copies, and so does a PDF file.',
        `This prints the words and keys of ${what}. Whoever finds a copy owns the wallets: use a printer without a network, and write no file.`,
      ),
      h(
        'div',
        { class: 'actions' },
        button('Print the words and keys', () => {
          printing.replaceChildren();
          printKit(kit, found.map(cardless), true);
        }),
        button('Cancel', () => printing.replaceChildren()),
      ),
    );
  };
  showMore();
  const { organization, madeAt } = kit.kit;
  return h(
    'div',
    { class: 'kit' },
    h(
      'div',
      { class: 'bar' },
      h(
        'div',
        {},
        h('h1', { tabindex: '-1' }, plain(organization.name)),
        h('p', { class: 'meta' }, `Recovery kit, made ${momentOf(madeAt)}`),
      ),
      h(
        'div',
        { class: 'actions' },
        button('Print addresses', () => printKit(kit, found.map(cardless), false)),
        button('Print with words and keys', askToPrint),
        button('Close the kit', close),
      ),
    ),
    printing,
    verdictNote(kit),
    entries.length > 5 && h('div', { class: 'field search' }, h('label', { for: 'search' }, 'Search'), search, count),
    list,
    more,
  );
}

const cardless = (entry: Entry): CheckedWallet | CheckedPrivateKey => ('wallet' in entry ? entry.wallet : entry.key);

function textOf(entry: Entry): string {
  if ('key' in entry) {
    const { privateKey, addresses } = entry.key;
    return [privateKey.name, privateKey.id, ...addresses.map(({ address }) => address)].join('\n').toLowerCase();
  }
  const { wallet, accounts } = entry.wallet;
  return [wallet.name, wallet.id, ...accounts.flatMap(({ name = '', address, path }) => [name, address, path])]
    .join('\n')
    .toLowerCase();
}

function verdictNote({ counts }: CheckedKit): HTMLElement {
  const { same, different, unknown } = counts;
  const rest =
    unknown === 0
      ? ''
      : ` ${unknown === 1 ? 'One is' : `${unknown} are`} of a kind that this page does not know, and could not be computed.`;
  if (different > 0) {
    return note(
      'deny',
      `${different === 1 ? 'One address is' : `${different} addresses are`} not what the words and keys lead to.`,
      `Do not pay to ${different === 1 ? 'it' : 'them'}: ${different === 1 ? 'it is' : 'they are'} marked below, with what was computed here.${rest}`,
    );
  }
  if (same === 0)
    return note('wait', 'No address was compared.', `The kit has none that this page can compute.${rest}`);
  if (unknown > 0) {
    return note(
      'wait',
      `${same} of ${same + unknown} addresses ${same === 1 ? 'was computed again, and is' : 'were computed again, and are'} the same.`,
      `${unknown === 1 ? 'The other one is' : 'The others are'} of a kind that this page does not know, and marked below. Do not pay there before a newer page has computed ${unknown === 1 ? 'it' : 'them'}.`,
    );
  }
  return note(
    'allow',
    same === 1
      ? 'The address was computed again, and is the same.'
      : `All ${same} addresses were computed again, and are the same.`,
    'This page made them from the words and keys, without the service that wrote the kit.',
  );
}

const cardOf = (entry: Entry): HTMLElement => ('wallet' in entry ? walletCard(entry.wallet) : keyCard(entry.key));

function walletCard({ wallet, accounts }: CheckedWallet): HTMLElement {
  const words = wallet.mnemonic.split(' ');
  const name = plain(wallet.name);
  return h(
    'section',
    { class: 'card', 'aria-label': `Wallet ${name}` },
    h(
      'div',
      { class: 'card-head' },
      h('h2', {}, name),
      h('span', { class: 'mark' }, `${words.length} words`),
      wallet.language !== 'english' && h('span', { class: 'mark' }, plain(wallet.language)),
      wallet.passphrase !== undefined && h('span', { class: 'mark' }, 'with a passphrase'),
    ),
    secret(`the words of ${name}`, 'Show the words', () => wordsOf(words, wallet.mnemonic, wallet.passphrase)),
    h(
      'ul',
      { class: 'rows' },
      ...accounts.map((account) =>
        addressRow(
          account,
          [
            account.name === undefined ? undefined : plain(account.name),
            chainOf(account.addressFormat),
            plain(account.path),
          ],
          true,
        ),
      ),
    ),
    accounts.length === 0 && h('p', { class: 'empty' }, 'No accounts: the words alone are all there is.'),
  );
}

function keyCard({ privateKey, addresses }: CheckedPrivateKey): HTMLElement {
  const name = plain(privateKey.name);
  const curve = privateKey.curve.replace(/^CURVE_/, '').toLowerCase();
  return h(
    'section',
    { class: 'card', 'aria-label': `Private key ${name}` },
    h(
      'div',
      { class: 'card-head' },
      h('h2', {}, name),
      h('span', { class: 'mark' }, 'private key'),
      h('span', { class: 'mark' }, plain(curve)),
    ),
    secret(`the key ${name}`, 'Show the key', () => [keyLine({ name: 'Hexadecimal', text: privateKey.privateKey })]),
    h(
      'ul',
      { class: 'rows' },
      ...addresses.map((address) => addressRow(address, [chainOf(address.addressFormat)], true)),
    ),
    addresses.length === 0 && h('p', { class: 'empty' }, 'No address: the key alone is all there is.'),
  );
}

function wordsOf(words: readonly string[], mnemonic: string, passphrase: string | undefined): HTMLElement[] {
  return [
    h('ol', { class: 'words' }, ...words.map((word) => h('li', {}, word))),
    h(
      'p',
      { class: 'line' },
      h('span', { class: 'meta' }, 'All of them, in this order'),
      copyButton(mnemonic, 'Copy the words'),
    ),
    ...(passphrase === undefined
      ? []
      : [
          h(
            'p',
            { class: 'line' },
            h('span', { class: 'meta' }, `Passphrase (BIP-39), which is needed too: ${lengthOf(passphrase)}`),
            h('code', {}, typed(passphrase)),
            copyButton(passphrase, 'Copy the passphrase'),
          ),
        ]),
  ];
}

/** A button that puts a secret into the page, and takes it out again. */
function secret(what: string, words: string, make: () => readonly HTMLElement[]): HTMLElement {
  const place = h('div', { class: 'secret' });
  const toggle = button(
    words,
    () => {
      const isShown = place.childElementCount > 0;
      place.replaceChildren(...(isShown ? [] : make()));
      toggle.textContent = isShown ? words : words.replace('Show', 'Hide');
      toggle.setAttribute('aria-expanded', String(!isShown));
      announce(isShown ? 'Hidden.' : 'Shown.');
    },
    { label: `${words.split(' ')[0] ?? 'Show'} ${what}` },
  );
  toggle.setAttribute('aria-expanded', 'false');
  return h('div', { class: 'card-body' }, toggle, place);
}

function addressRow(address: CheckedAddress, about: readonly (string | undefined)[], hasKey: boolean): HTMLElement {
  const { key, computed } = address;
  const place = h('div', { class: 'secret' });
  const toggle = h('button', { type: 'button', class: 'link', 'aria-expanded': 'false' }, 'Private key');
  toggle.addEventListener('click', () => {
    const isShown = place.childElementCount > 0;
    place.replaceChildren(...(isShown || key === undefined ? [] : [keyLine(key)]));
    toggle.textContent = isShown ? 'Private key' : 'Hide the private key';
    toggle.setAttribute('aria-expanded', String(!isShown));
  });
  return h(
    'li',
    { class: 'row-item' },
    h(
      'div',
      { class: 'about' },
      ...about
        .filter((part) => part !== undefined)
        .map((part, index) => (index === 0 ? h('b', {}, part) : h('span', {}, part))),
    ),
    h(
      'div',
      { class: 'address' },
      groups(address.address),
      // Nobody is to pay to one that differs.
      address.verdict !== 'different' && copyButton(address.address, `Copy the address ${plain(address.address)}`),
    ),
    verdict(address),
    computed !== undefined &&
      h(
        'div',
        { class: 'address computed' },
        h('span', { class: 'meta' }, 'The words or the key lead to'),
        groups(computed),
        copyButton(computed, `Copy the address ${computed}`),
      ),
    hasKey && key !== undefined && toggle,
    place,
  );
}

const keyLine = ({ name, text }: KeyTextOf): HTMLElement =>
  h(
    'p',
    { class: 'line' },
    h('span', { class: 'meta' }, name),
    h('code', {}, text),
    copyButton(text, `Copy the private key as ${name}`),
  );

function verdict({ verdict: found }: CheckedAddress): HTMLElement {
  if (found === 'same') return h('span', { class: 'verdict allow' }, icon('check'), 'Verified');
  if (found === 'different') return h('span', { class: 'verdict deny' }, icon('octagon'), 'Differs');
  return h('span', { class: 'verdict' }, icon('question'), 'Not verified');
}

const GROUP = /.{1,4}/gu;

/** In groups of four, for comparing; copied without them. */
function groups(address: string): HTMLElement {
  const [, prefix = '', rest = ''] = /^(0x)?(.*)$/su.exec(plain(address)) ?? [];
  const parts = rest.match(GROUP) ?? [];
  return h(
    'span',
    { class: 'groups' },
    ...parts.map((part, index) =>
      h('span', { class: index === 0 || index === parts.length - 1 ? 'end' : '' }, index === 0 ? prefix + part : part),
    ),
  );
}
