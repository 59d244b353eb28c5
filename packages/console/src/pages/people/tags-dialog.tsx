import { useRef, useState } from 'react';
import { useOffReason } from '../../app/off-reason.ts';
import { ActDialog } from '../../kit/act-dialog.tsx';
import { Button, IconButton } from '../../kit/button.tsx';
import { ConsentBox } from '../../kit/consent.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { TextField } from '../../kit/field.tsx';
import { OutcomeNote } from '../../kit/problem-note.tsx';
import { SameWithLink } from '../../kit/same-with.tsx';
import { useAct } from '../../kit/use-act.ts';
import styles from './people.module.css';
import type { TagChoice } from './tag-picker.tsx';

/** Tags are what policies name people by, so each change says what it may change. */
export function TagsDialog({ tags, onClose }: { readonly tags: readonly TagChoice[]; readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [opened, setOpened] = useState<{ readonly act: 'rename' | 'delete'; readonly tag: TagChoice }>();
  const off = useOffReason();
  const field = useRef<HTMLInputElement>(null);
  const parameters = { userTagName: name.trim(), userIds: [] };
  const create = useAct('createUserTag', { current: parameters });
  const stops = off ?? ((parameters.userTagName === '' && 'Type a name.') || create.consent.off);
  const add = async (): Promise<void> => {
    // Enter in the field comes here too, whatever the button shows.
    if (stops || create.isBusy) return;
    if ((await create.submit(parameters)).state !== 'refused') setName('');
  };
  const close = (): void => setOpened(undefined);
  return (
    <>
      <Dialog
        open
        onClose={onClose}
        title="Tags"
        description="Policies name people by tags, by their ids. Whoever may change a tag may change who a policy lets act."
        footer={
          <>
            <SameWithLink method="createUserTag" parameters={parameters} />
            <Button onClick={onClose}>Close</Button>
          </>
        }
      >
        <div className={styles.form}>
          {tags.length === 0 ? (
            <p className={styles.quiet}>No tags yet. Create one, give it to people, and name it in a policy.</p>
          ) : (
            <ul className={styles.rows} aria-label="Tags">
              {tags.map((tag) => (
                <li key={tag.tagId} className={styles.row}>
                  <span className={styles.grow}>
                    <bdi>{tag.tagName}</bdi>
                  </span>
                  <IconButton
                    icon="edit"
                    label={`Rename ${tag.tagName}`}
                    onClick={() => setOpened({ act: 'rename', tag })}
                  />
                  <IconButton
                    icon="trash"
                    label={`Delete ${tag.tagName}`}
                    onClick={() => setOpened({ act: 'delete', tag })}
                  />
                </li>
              ))}
            </ul>
          )}
          <form
            className={styles.form}
            onSubmit={(event) => {
              event.preventDefault();
              void add();
            }}
          >
            <TextField ref={field} label="New tag" value={name} onChange={setName} maxLength={255} />
            <ConsentBox consent={create.consent} />
            <div className={styles.buttons}>
              <Button icon="plus" busy={create.isBusy && 'Creating…'} off={stops} onClick={() => void add()}>
                Create tag
              </Button>
            </div>
            <OutcomeNote outcome={create.outcome} done="The tag was created." onRepeat={() => void create.repeat()} />
          </form>
        </div>
      </Dialog>
      {opened?.act === 'rename' && <RenameTag tag={opened.tag} onClose={close} />}
      {opened?.act === 'delete' && (
        <ActDialog
          method="deleteUserTags"
          parameters={{ userTagIds: [opened.tag.tagId] }}
          title={
            <>
              Delete the tag <bdi>{opened.tag.tagName}</bdi>
            </>
          }
          act="Delete tag"
          acting="Deleting…"
          kind="danger"
          width="small"
          onClose={close}
        />
      )}
    </>
  );
}

function RenameTag({ tag, onClose }: { readonly tag: TagChoice; readonly onClose: () => void }) {
  const [name, setName] = useState(tag.tagName);
  const field = useRef<HTMLInputElement>(null);
  const newUserTagName = name.trim();
  return (
    <ActDialog
      method="updateUserTag"
      parameters={{ userTagId: tag.tagId, newUserTagName, addUserIds: [], removeUserIds: [] }}
      title="Rename the tag"
      description="Policies name tags by id, so none changes its meaning."
      act="Rename"
      acting="Renaming…"
      width="small"
      initialFocus={field}
      off={(newUserTagName === '' || newUserTagName === tag.tagName) && 'Type another name.'}
      onClose={onClose}
    >
      <TextField ref={field} label="Name" value={name} onChange={setName} maxLength={255} />
    </ActDialog>
  );
}
