import { Component, type ReactNode } from 'react';

/** Keeps the page when a part of it cannot be drawn: it says so in its place, and tries again when there is news. */
export class Guard extends Component<{ children: ReactNode; news?: unknown }, { error: Error | undefined }> {
  override state: { error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override componentDidUpdate({ news }: { news?: unknown }): void {
    if (this.state.error !== undefined && news !== this.props.news) this.setState({ error: undefined });
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <p className="failure" role="alert">
        This cannot be shown: {error.message}
      </p>
    );
  }
}
