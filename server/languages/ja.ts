import type { Texts } from "./texts";

export const ja: Texts = {
  pages: {
    common: {
      accountTitle: "アカウント",
      backToLogin: "ログインに戻る",
      continueWith: "{provider} で続ける",
      email: "メールアドレス",
      forgotPassword: "パスワードをお忘れですか?",
      language: "言語",
      logIn: "ログイン",
      or: "または",
      otherService: "外部サービス",
      password: "パスワード",
    },
    login: {
      createAccount: "アカウントをお持ちでない場合は、<register>アカウントを作成</register>",
      idpFailed: "{provider} でログインできませんでした。",
      idpFailedAgain:
        "{provider} でログインできませんでした。<again>もう一度試す</again>か、メールアドレスでログインしてください。",
      passwordReset: "パスワードを変更しました。新しいパスワードでログインしてください。",
      signInAgain: {
        other: "ログインしてから {count} 分以上経過しました。続けるには、もう一度ログインしてください。",
      },
    },
    forgot: {
      lead: "アカウントのメールアドレスを入力してください。新しいパスワードを設定するためのリンクをメールでお送りします。",
      send: "リンクを送信",
      sent: "<address>{address}</address> のアカウントがある場合は、パスワードを再設定するためのリンクをお送りしました。",
    },
    register: {
      lead: "パスワードを設定するためのリンクをメールでお送りします。",
      logIn: "アカウントをお持ちの場合は、<login>ログイン</login>",
      next: "続ける",
      sent: "<address>{address}</address> でメールを受信できる場合は、アカウントの作成を完了するためのリンクをお送りしました。",
      title: "アカウントを作成",
    },
    sent: {
      askedAgain: "もう一度送信しました。",
      help: "迷惑メールフォルダとメールアドレスを確認してから、もう一度お試しください。",
      logged: "このサーバーからメールは送信されません。内容はサーバーの出力にあります。",
      loggedHere: "<mails>ここで読む</mails>こともできます。",
      nothing: "数分たっても届かない場合",
      sendAgain: "もう一度送信",
      thatAddress: "このメールアドレス",
      title: "メールをご確認ください",
      works: {
        other: "リンクは 1 回だけ、{count} 分以内に使用できます。",
      },
    },
    link: {
      invalidHelp: {
        other: "リンクは 1 回だけ、{count} 分以内に使用できます。新しいリンクをメールでお送りします。",
      },
      sendNew: "新しいリンクを送信",
    },
    reset: {
      submit: "パスワードを変更",
      title: "新しいパスワードの設定",
    },
    complete: {
      submit: "アカウントを作成",
      title: "アカウント作成の完了",
    },
    password: {
      capsLock: "Caps Lock がオンになっています。",
      hide: "非表示",
      hideNew: "新しいパスワードを非表示",
      hideNewAgain: "確認用の新しいパスワードを非表示",
      hidePassword: "パスワードを非表示",
      new: "新しいパスワード",
      newAgain: "新しいパスワード(確認)",
      show: "表示",
      showNew: "新しいパスワードを表示",
      showNewAgain: "確認用の新しいパスワードを表示",
      showPassword: "パスワードを表示",
    },
    strength: {
      score0: "非常に推測されやすいパスワードです。単語を追加してください。",
      score1: "推測されやすいパスワードです。単語を 1、2 個追加してください。",
      score2: "もう少し強くできます。単語を追加してください。",
      score3: "強いパスワードです。",
      score4: "非常に強いパスワードです。",
      tooShort: {
        other: "短すぎます。{count} 文字以上で入力してください。",
      },
      use: {
        other: "{count} 文字以上で入力してください。",
      },
    },
    account: {
      connect: "{provider} を連携",
      connected: "{provider} でログインできるようになりました。",
      connectFailed: "{provider} でログインできませんでした。変更はありません。",
      delete: "アカウントを削除",
      deleteConfirm: "確認のため、メールアドレスを入力してください",
      deleteForGood: "アカウントを完全に削除",
      deleteTitle: "アカウントの削除",
      deleteWarning: {
        other:
          "アカウントとそのすべての内容が削除されます。この操作は取り消せません。ログインしてから {count} 分以上経過している場合は、先にもう一度ログインしていただきます。",
      },
      disconnect: "連携を解除",
      disconnectProvider: "{provider} の連携を解除",
      disconnectWarning:
        "ログインはパスワードのみになり、ほかのセッションはすべて終了します。ここで再び連携するまで、{provider} ではログインできません。",
      emailAndPassword: "メールアドレスとパスワード",
      externalSignIn: "外部ログイン",
      logOut: "ログアウト",
      mailPasswordLink: "メールでパスワードを変更",
      name: "名前",
      notConnected: "{provider} <muted>· 未連携</muted>",
      onlyProvider: "ログイン方法は {provider} のみです。連携を解除するには、先にパスワードを設定してください。",
      setPassword: "メールでパスワードを設定",
      waysIn: "ログイン方法",
    },
    sessions: {
      end: "このセッションを終了",
      endOthers: "ほかのセッションをすべて終了",
      lastSeen: "最終アクセス: <time>{moment}</time>",
      since: "ログイン: <time>{moment}</time>",
      thisBrowser: "このブラウザ",
      title: "ログイン中のブラウザ",
    },
    deleted: {
      createNew: "新しいアカウントを作成",
      text: "すべての内容が削除され、すべてのブラウザでログアウトされました。",
      title: "アカウントを削除しました",
    },
    errors: {
      goToStart: "トップページへ",
      openFormAgain: "フォームをもう一度開く",
      text400: "アドレスに誤りがあります。メールのリンクの場合は、リンク全体をコピーしてください。",
      text403: "安全のため、当サイトのページ以外から送信されたフォームは受け付けません。",
      text404: "このアドレスにページはありません。",
      text405: "このページをこの方法で開くことはできません。",
      text413: "フォームの内容が長すぎます。",
      text415: "読み取れない形式で送信されました。",
      text422: "フォームの一部が欠けていました。",
      text429: "数分待ってから、もう一度お試しください。",
      text500: "こちらの問題です。しばらくしてから、もう一度お試しください。",
      text503: "ただいま応答できません。データは失われていません。",
      title400: "このアドレスを読み取れません",
      title403: "別のサイトから送信されました",
      title404: "ページが見つかりません",
      title405: "この操作はできません",
      title413: "テキストが長すぎます",
      title415: "フォームを読み取れません",
      title422: "フォームを読み取れません",
      title429: "試行回数が多すぎます",
      title500: "問題が発生しました",
      title503: "しばらくお待ちください",
      tryAgain: "もう一度試す",
    },
  },

  answers: {
    form: {
      missing: "この項目がないか、2 回送信されました。",
    },
    link: {
      invalid: "このリンクは無効か、有効期限が切れています。",
      invalidReset: "この再設定用リンクは無効か、有効期限が切れています。",
    },
    login: {
      tooMany: {
        other: "試行回数が多すぎます。{count} 分後にもう一度お試しになるか、パスワードを再設定してください。",
      },
      wrong: "メールアドレスまたはパスワードが正しくありません。",
    },
    password: {
      common: "このパスワードはよく使われているものです。別のパスワードを入力してください。",
      isTheEmail: "メールアドレスとは異なるパスワードを入力してください。",
      tooLong: {
        other: "{count} 文字以内で入力してください。",
      },
      tooShort: {
        other: "{count} 文字以上で入力してください。",
      },
      unconfirmed: "2 つのパスワードが一致しません。",
    },
    account: {
      alreadyConnected: "すでに連携されています。",
      chooseAction: "操作を選択してください。",
      disconnected: "外部ログインの連携を解除し、ほかのセッションをすべて終了しました。",
      onlyWayIn: "先にパスワードを設定してください。ほかにログインする方法がありません。",
      otherSessionsEnded: "ほかのセッションをすべて終了しました。",
      passwordLinkSent: "パスワードを設定するためのリンクを {email} に送信しました。",
      sessionAlreadyEnded: "このセッションはすでに終了しています。",
      sessionEnded: "セッションを終了しました。",
      signInOff: "外部ログインはオフになっています。",
      tooManyLinks: {
        other: "リンクの請求回数が多すぎます。{count} 分後にもう一度お試しください。",
      },
      typeYourEmail: "このアカウントのメールアドレスを入力してください。",
    },
    browser: {
      onSystem: "{browser}({system})",
      unknown: "不明なブラウザ",
      unknownOnSystem: "不明なブラウザ({system})",
    },
    provider: {
      singleSignOn: "シングルサインオン",
    },
  },

  mails: {
    common: {
      anotherService: "外部サービス",
      expiry: {
        other: "このリンクの有効期限は {count} 分です。",
      },
      ignore: "お心当たりがない場合は、このメールを無視してください。",
      logIn: "ログイン",
      resetPassword: "パスワードを再設定",
      yourAccount: "アカウント",
    },
    reset: {
      button: "新しいパスワードを設定",
      lead: "次のリンクからパスワードを再設定してください。",
      subject: "パスワードの再設定",
    },
    registration: {
      button: "パスワードを設定",
      lead: "次のリンクからアカウントの作成を完了してください。",
      subject: "アカウント作成の完了",
    },
    accountExists: {
      logInHere: "ログインはこちら:",
      resetHere: "パスワードをお忘れの場合は、こちらから再設定してください。",
      subject: "アカウントはすでにあります",
      what: "このメールアドレスでアカウントを作成する操作がありました。このメールアドレスのアカウントはすでにあります。",
    },
    passwordChanged: {
      act: "お心当たりがない場合は、すぐにパスワードを再設定してください。",
      subject: "パスワードが変更されました",
      what: "アカウントのパスワードが変更され、すべてのセッションが終了しました。",
    },
    newSignIn: {
      act: "お心当たりがない場合は、パスワードを再設定してください。すべてのブラウザでログアウトされます。",
      check: "その後ログインして、ご自身で連携していない外部ログインの連携をすべて解除してください。",
      lead: "これまで使われていないブラウザから、パスワードでアカウントへのログインがありました。",
      subject: "アカウントへの新しいログイン",
      what: "{browser}、{moment}",
    },
    providerLinked: {
      act: "お心当たりがない場合は、まずパスワードを再設定してください。すべてのブラウザでログアウトされます。",
      remove:
        "その後ログインして、アカウントページで {provider} の連携を解除してください。その間に使用した人はログアウトされ、{provider} を再び連携できるのはご本人だけになります。",
      subject: "{provider} でのログインが追加されました",
      what: "{provider} でアカウントにログインできるようになりました。",
    },
    providerUnlinked: {
      act: "お心当たりがない場合は、パスワードを再設定してください。すべてのブラウザでログアウトされます。",
      again: "その後ログインしてください。アカウントページで {provider} を再び連携できます。",
      subject: "{provider} でのログインが削除されました",
      what: "{provider} ではアカウントにログインできなくなり、ほかのブラウザはすべてログアウトされました。",
    },
    accountDeleted: {
      act: "お心当たりがない場合は、第三者がアカウントにログインしたおそれがあります。メールのパスワードと、同じパスワードを使っているすべてのアカウントのパスワードを変更してください。新しいアカウントはこちらから作成できます。",
      button: "新しいアカウントを作成",
      subject: "アカウントが削除されました",
      what: "アカウントとそのすべての内容が削除されました。元に戻すことはできません。",
    },
  },
};
