import { decryptFile, isDecrypted } from '../recovery/age-file.ts';
import { type CheckedKit, checkKit } from '../recovery/check-kit.ts';
import { readIdentities } from '../recovery/identities.ts';
import { readKit } from '../recovery/kit.ts';
import { RecoveryError } from '../recovery/recovery-error.ts';
import { announce, button, h, icon, note } from './dom.ts';

/** The first step: the kit and an identity. */
export function openForm(opened: (kit: CheckedKit) => void): HTMLElement {
  let kitFile: File | undefined;
  let identityFile: File | undefined;
  const problem = h('div', { role: 'alert' });
  const pasted = h('input', {
    id: 'identity',
    class: 'input',
    type: 'password',
    placeholder: 'AGE-SECRET-KEY-1…',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    'aria-describedby': 'identity-hint',
  });
  const reveal = button('Show', () => {
    const isShown = pasted.type === 'text';
    pasted.type = isShown ? 'password' : 'text';
    reveal.textContent = isShown ? 'Show' : 'Hide';
    reveal.setAttribute('aria-label', isShown ? 'Show the identity' : 'Hide the identity');
  });
  reveal.setAttribute('aria-label', 'Show the identity');
  const submit = h('button', { type: 'submit', class: 'button ink large' }, 'Open the kit');

  const open = async (): Promise<void> => {
    problem.replaceChildren();
    submit.disabled = true;
    try {
      opened(
        await read(kitFile, identityFile, pasted.value, (text) => {
          submit.textContent = text;
        }),
      );
      pasted.value = '';
    } catch (error) {
      const known = error instanceof RecoveryError;
      problem.append(
        note(
          'deny',
          'The kit was not opened.',
          known ? sentence(error.message) : 'Something went wrong that this page does not know.',
        ),
      );
      if (!known) console.error(error);
      announce('The kit was not opened.');
    } finally {
      submit.disabled = false;
      submit.textContent = 'Open the kit';
    }
  };

  return h(
    'form',
    {
      class: 'open',
      onsubmit: (event: Event) => {
        event.preventDefault();
        void open();
      },
    },
    h('h1', {}, 'Open a recovery kit'),
    h(
      'p',
      { class: 'lead' },
      'It holds the words and keys of wallets. They stay in this page: it sends nothing, and stores nothing.',
    ),
    networkNote(),
    drop('kit', 'The kit', 'A file that ends in .age, or what age made of it.', (file) => {
      kitFile = file;
    }),
    drop(
      'identity-file',
      'The identity',
      'The file of age-keygen that belongs to one of the recipients. Or type its secret line below.',
      (file) => {
        identityFile = file;
      },
      h(
        'div',
        { class: 'field' },
        h('label', { for: 'identity' }, 'Secret line'),
        h('div', { class: 'row' }, pasted, reveal),
        h('p', { id: 'identity-hint', class: 'hint' }, 'It begins with AGE-SECRET-KEY-1. Small letters are fine.'),
      ),
    ),
    problem,
    submit,
  );
}

/** Said as what the browser says: nobody can see from here whether a cable is out. */
function networkNote(): HTMLElement {
  const place = h('div');
  const show = (): void =>
    place.replaceChildren(
      navigator.onLine
        ? note(
            'wait',
            'Take this machine off the network first.',
            'The browser says that it has one. This page can send nothing, but other programs on the machine can.',
          )
        : note(
            'info',
            'The browser says that this machine has no network.',
            'Keep it so until the machine is wiped, or the wallets are empty.',
          ),
    );
  addEventListener('online', show);
  addEventListener('offline', show);
  show();
  return place;
}

/** A place for a file, by choice or by dropping it. */
function drop(id: string, title: string, text: string, chosen: (file: File) => void, ...more: readonly HTMLElement[]) {
  const input = h('input', { id, type: 'file', class: 'file', 'aria-describedby': `${id}-text` });
  const take = (file: File | null | undefined): void => {
    if (file === null || file === undefined) return;
    chosen(file);
  };
  input.addEventListener('change', () => take(input.files?.item(0)));
  const area = h(
    'div',
    { class: 'drop' },
    h(
      'div',
      { class: 'head' },
      icon('file'),
      h('div', {}, h('label', { for: id, class: 'title' }, title), h('p', { id: `${id}-text`, class: 'text' }, text)),
    ),
    input,
    ...more,
  );
  area.addEventListener('dragover', (event) => {
    event.preventDefault();
    area.classList.add('over');
  });
  area.addEventListener('dragleave', () => area.classList.remove('over'));
  area.addEventListener('drop', (event) => {
    event.preventDefault();
    area.classList.remove('over');
    const files = event.dataTransfer?.files;
    // The field says which file it is, however it came.
    if (files !== undefined && files.length > 0) input.files = files;
    take(files?.item(0));
  });
  return area;
}

async function read(
  kitFile: File | undefined,
  identityFile: File | undefined,
  pasted: string,
  say: (text: string) => void,
): Promise<CheckedKit> {
  if (kitFile === undefined) throw new RecoveryError('choose the kit first');
  const bytes = new Uint8Array(await bytesOf(kitFile));
  const text = isDecrypted(bytes)
    ? new TextDecoder().decode(bytes)
    : await decrypt(bytes, kitFile, identityFile, pasted);
  const kit = readKit(text, kitFile.name);
  return await checkKit(kit, (done) => say(`Computing addresses: ${done} of ${kit.wallets.length} wallets`));
}

async function decrypt(bytes: Uint8Array, kitFile: File, identityFile: File | undefined, pasted: string) {
  // A line that was pasted with its comments has lost their line ends.
  const lines = pasted.replace(/\s*(AGE-SECRET-KEY-)/gi, '\n$1');
  const typed = lines.trim() === '' ? [] : await readIdentities(lines, 'the secret line');
  const filed = identityFile === undefined ? [] : await readIdentities(await textOf(identityFile), identityFile.name);
  if (typed.length + filed.length === 0) throw new RecoveryError('choose the identity, or type its secret line');
  return await decryptFile(bytes, [...typed, ...filed], kitFile.name);
}

const bytesOf = (file: File): Promise<ArrayBuffer> => file.arrayBuffer().catch(() => Promise.reject(unread(file)));
const textOf = (file: File): Promise<string> => file.text().catch(() => Promise.reject(unread(file)));
const unread = (file: File): RecoveryError =>
  new RecoveryError(
    `${file.name} cannot be read: it may have been moved or changed since it was chosen. Choose it again`,
  );

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
