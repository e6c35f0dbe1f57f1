import { Component, type ReactNode } from 'react';
import { Failure } from './failure';

interface MishapProps {
  readonly children: ReactNode;
}

interface MishapState {
  readonly error: Error | undefined;
}

/** Where the page itself is at fault, its words and a button stand instead of nothing at all. */
export class Mishap extends Component<MishapProps, MishapState> {
  override state: MishapState = { error: undefined };

  static getDerivedStateFromError(error: Error): MishapState {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    return error ? <Failure error={error} again={() => window.location.reload()} /> : this.props.children;
  }
}
