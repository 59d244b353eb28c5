import { useRef } from 'react';
import type { ParametersOf } from '../../api/use-api.ts';
import { ActDialog } from '../../kit/act-dialog.tsx';
import { useDraft } from '../../kit/drafts.ts';
import { Checkbox, TextField } from '../../kit/field.tsx';
import { fieldProblem } from '../../kit/problem-note.tsx';
import { accountOf, PRESETS } from '../../lib/chains.ts';

const INITIAL = { name: '', userName: '', email: '', publicKey: '', hasWallet: true };

/** One root user who signs in by mail or with an API key; programs can name more. */
export function CreateSubOrganizationDialog({ onClose }: { readonly onClose: () => void }) {
  const { value, set, discard } = useDraft('create-sub-organization', INITIAL);
  const field = useRef<HTMLInputElement>(null);
  const [name, userName, email] = [value.name.trim(), value.userName.trim(), value.email.trim()];
  const publicKey = value.publicKey.trim().toLowerCase();
  const isKey = /^0[23][0-9a-f]{64}$/.test(publicKey);
  const ethereum = PRESETS.find(({ addressFormat }) => addressFormat === 'ADDRESS_FORMAT_ETHEREUM');
  const parameters: ParametersOf<'createSubOrganization'> = {
    subOrganizationName: name,
    rootQuorumThreshold: 1,
    rootUsers: [
      {
        userName,
        ...(email !== '' && { userEmail: email }),
        apiKeys: isKey ? [{ apiKeyName: 'First key', publicKey, curveType: 'API_KEY_CURVE_P256' }] : [],
        authenticators: [],
        oauthProviders: [],
      },
    ],
    ...(value.hasWallet && ethereum && { wallet: { walletName: 'Main', accounts: [accountOf(ethereum)] } }),
  };
  return (
    <ActDialog
      method="createSubOrganization"
      parameters={parameters}
      title="Create a sub-organization"
      description="It has a root user of its own. You can read it; what happens in it is decided there."
      act="Create sub-organization"
      acting="Creating…"
      initialFocus={field}
      off={
        name === ''
          ? 'Give it a name.'
          : userName === ''
            ? 'Name its root user.'
            : publicKey !== '' && !isKey
              ? 'Mend the public key.'
              : email === '' && !isKey && 'Give a mail address or a public key.'
      }
      onDone={discard}
      onClose={onClose}
    >
      {(outcome) => (
        <>
          <TextField
            ref={field}
            label="Name"
            value={value.name}
            onChange={(next) => set({ name: next })}
            maxLength={255}
            error={fieldProblem(outcome, 'subOrganizationName')}
          />
          <TextField
            label="Root user"
            value={value.userName}
            onChange={(next) => set({ userName: next })}
            maxLength={255}
            error={fieldProblem(outcome, 'userName')}
          />
          <TextField
            label="Email"
            hint="to sign in by a code"
            type="email"
            value={value.email}
            onChange={(next) => set({ email: next })}
            error={fieldProblem(outcome, 'userEmail')}
          />
          <TextField
            label="Public key"
            hint="of an API key, P-256, compressed, in hex"
            mono
            value={value.publicKey}
            onChange={(next) => set({ publicKey: next })}
            error={
              fieldProblem(outcome, 'publicKey') ??
              (publicKey !== '' && !isKey ? '33 bytes in hex that begin with 02 or 03.' : undefined)
            }
          />
          <Checkbox
            label="With a wallet"
            help="Main, with an account for Ethereum."
            checked={value.hasWallet}
            onChange={(hasWallet) => set({ hasWallet })}
          />
        </>
      )}
    </ActDialog>
  );
}
