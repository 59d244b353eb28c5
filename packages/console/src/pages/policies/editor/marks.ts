import { MapMode, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view';

/** The name or unit of a literal, shown after it. */
export interface Mark {
  readonly end: number;
  readonly text: string;
}

class MarkWidget extends WidgetType {
  readonly text: string;

  constructor(text: string) {
    super();
    this.text = text;
  }

  override eq(other: MarkWidget): boolean {
    return other.text === this.text;
  }

  override toDOM(): HTMLElement {
    const element = document.createElement('bdi');
    element.className = 'cm-policy-mark';
    // Names are other people's text.
    element.textContent = this.text;
    return element;
  }

  override ignoreEvent(): boolean {
    return false;
  }
}

export const setMarks = StateEffect.define<readonly Mark[]>();

const decorate = (marks: readonly Mark[]): DecorationSet =>
  Decoration.set(
    marks.map(({ end, text }) => Decoration.widget({ widget: new MarkWidget(text), side: 1 }).range(end)),
    true,
  );

/** Marks stay at their literal while the text around it changes, and go with it. */
export const marksField = StateField.define<readonly Mark[]>({
  create: () => [],
  update(marks, { docChanged, changes, effects, state }) {
    for (const effect of effects) {
      if (effect.is(setMarks)) return effect.value.filter(({ end }) => end <= state.doc.length);
    }
    if (!docChanged) return marks;
    return marks.flatMap(({ end, text }) => {
      const moved = changes.mapPos(end, -1, MapMode.TrackBefore);
      return moved === null ? [] : [{ end: moved, text }];
    });
  },
  provide: (field) => EditorView.decorations.from(field, decorate),
});
