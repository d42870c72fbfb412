import { Component, type ReactNode } from 'react';

/** Shows an error message instead of children that fail to render. Renders them again when `resetKey` changes. */
export class ErrorBoundary extends Component<
  { children: ReactNode; resetKey?: unknown },
  { error: Error | undefined }
> {
  override state: { error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override componentDidUpdate({ resetKey }: { resetKey?: unknown }): void {
    if (this.state.error !== undefined && resetKey !== this.props.resetKey) this.setState({ error: undefined });
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <p className="failure" role="alert">
        Cannot display this: {error.message}
      </p>
    );
  }
}
