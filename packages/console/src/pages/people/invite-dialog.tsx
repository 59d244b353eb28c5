import { useRef } from 'react';
import { ActDialog } from '../../kit/act-dialog.tsx';
import { useDraft } from '../../kit/drafts.ts';
import { TextField } from '../../kit/field.tsx';
import { fieldProblem } from '../../kit/problem-note.tsx';
import { Select } from '../../kit/select.tsx';
import { useSessionOrThrow } from '../../session/session.ts';
import { type TagChoice, TagPicker } from './tag-picker.tsx';

const INITIAL = { name: '', email: '', access: 'ACCESS_TYPE_ALL' as const, tagIds: [] as readonly string[] };
const ACCESS = [
  { value: 'ACCESS_TYPE_ALL', label: 'A passkey and API keys' },
  { value: 'ACCESS_TYPE_WEB', label: 'A passkey' },
  { value: 'ACCESS_TYPE_API', label: 'API keys' },
] as const;
type Access = (typeof ACCESS)[number]['value'];

export function InviteDialog({ tags, onClose }: { readonly tags: readonly TagChoice[]; readonly onClose: () => void }) {
  const { value, set, discard } = useDraft<{ name: string; email: string; access: Access; tagIds: readonly string[] }>(
    'invite',
    INITIAL,
  );
  const { userId } = useSessionOrThrow();
  const field = useRef<HTMLInputElement>(null);
  const [name, email] = [value.name.trim(), value.email.trim()];
  return (
    <ActDialog
      method="createInvitations"
      parameters={{
        invitations: [
          {
            receiverUserName: name,
            receiverUserEmail: email,
            receiverUserTags: [...value.tagIds],
            accessType: value.access,
            senderUserId: userId,
          },
        ],
      }}
      title="Invite somebody"
      description="The invitation is stored for this mail address. Whoever accepts it becomes a user with these tags, and nothing more: policies and the root quorum stay as they are."
      act="Invite"
      acting="Inviting…"
      initialFocus={field}
      off={name === '' ? 'Type a name.' : !/^\S+@\S+$/.test(email) && 'Type a mail address.'}
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
            error={fieldProblem(outcome, 'receiverUserName')}
          />
          <TextField
            label="Email"
            type="email"
            value={value.email}
            onChange={(next) => set({ email: next })}
            maxLength={255}
            error={fieldProblem(outcome, 'receiverUserEmail')}
          />
          <Select
            label="Signs in with"
            options={ACCESS}
            value={value.access}
            onChange={(access: Access) => set({ access })}
          />
          <TagPicker tags={tags} chosen={value.tagIds} onChange={(tagIds) => set({ tagIds })} />
        </>
      )}
    </ActDialog>
  );
}
