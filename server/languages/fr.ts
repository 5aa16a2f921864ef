import type { Texts } from "./texts";

export const fr: Texts = {
  pages: {
    common: {
      accountTitle: "Votre compte",
      backToLogin: "Retour à la connexion",
      continueWith: "Continuer avec {provider}",
      email: "Adresse e-mail",
      forgotPassword: "Mot de passe oublié ?",
      language: "Langue",
      logIn: "Se connecter",
      or: "ou",
      otherService: "l’autre service",
      password: "Mot de passe",
    },
    login: {
      createAccount: "Pas encore de compte ? <register>Créez-en un</register>",
      idpFailed: "La connexion avec {provider} n’a pas abouti.",
      idpFailedAgain:
        "La connexion avec {provider} n’a pas abouti. <again>Réessayez</again>, ou connectez-vous avec votre adresse e-mail.",
      passwordReset: "Votre mot de passe a été modifié. Connectez-vous avec le nouveau.",
      signInAgain: {
        one: "Votre connexion date de plus de {count} minute. Connectez-vous à nouveau pour continuer.",
        other: "Votre connexion date de plus de {count} minutes. Connectez-vous à nouveau pour continuer.",
      },
    },
    forgot: {
      lead: "Saisissez l’adresse e-mail de votre compte. Nous vous enverrons un lien pour choisir un nouveau mot de passe.",
      send: "Envoyer le lien",
      sent: "S’il existe un compte pour <address>{address}</address>, un lien de réinitialisation du mot de passe est en route.",
    },
    register: {
      lead: "Nous vous enverrons un lien pour choisir un mot de passe.",
      logIn: "Vous avez déjà un compte ? <login>Connectez-vous</login>",
      next: "Continuer",
      sent: "Si <address>{address}</address> reçoit des e-mails, un lien pour terminer la création du compte est en route.",
      title: "Créer un compte",
    },
    sent: {
      askedAgain: "Nouvelle demande envoyée.",
      help: "Regardez dans le dossier des courriers indésirables, vérifiez l’adresse, puis faites une nouvelle demande.",
      logged: "Ce serveur n’envoie aucun e-mail : le message se trouve dans la sortie du serveur.",
      loggedHere: "Vous pouvez aussi <mails>le lire ici</mails>.",
      nothing: "Toujours rien après quelques minutes ?",
      sendAgain: "Renvoyer le lien",
      thatAddress: "cette adresse",
      title: "Consultez votre messagerie",
      works: {
        one: "Il fonctionne une seule fois, pendant {count} minute.",
        other: "Il fonctionne une seule fois, pendant {count} minutes.",
      },
    },
    link: {
      invalidHelp: {
        one: "Un lien fonctionne une seule fois, pendant {count} minute. Nous pouvons vous en envoyer un nouveau.",
        other: "Un lien fonctionne une seule fois, pendant {count} minutes. Nous pouvons vous en envoyer un nouveau.",
      },
      sendNew: "Envoyer un nouveau lien",
    },
    reset: {
      submit: "Modifier le mot de passe",
      title: "Choisir un nouveau mot de passe",
    },
    complete: {
      submit: "Créer le compte",
      title: "Terminer la création du compte",
    },
    password: {
      capsLock: "Le verrouillage des majuscules est activé.",
      hide: "Masquer",
      hideNew: "Masquer le nouveau mot de passe",
      hideNewAgain: "Masquer la confirmation du nouveau mot de passe",
      hidePassword: "Masquer le mot de passe",
      new: "Nouveau mot de passe",
      newAgain: "Confirmer le nouveau mot de passe",
      show: "Afficher",
      showNew: "Afficher le nouveau mot de passe",
      showNewAgain: "Afficher la confirmation du nouveau mot de passe",
      showPassword: "Afficher le mot de passe",
    },
    strength: {
      score0: "Très facile à deviner : ajoutez des mots.",
      score1: "Facile à deviner : ajoutez un mot ou deux.",
      score2: "Pourrait être plus fort : ajoutez un mot.",
      score3: "Fort.",
      score4: "Très fort.",
      tooShort: {
        one: "Trop court : utilisez au moins {count} caractère.",
        other: "Trop court : utilisez au moins {count} caractères.",
      },
      use: {
        one: "Utilisez au moins {count} caractère.",
        other: "Utilisez au moins {count} caractères.",
      },
    },
    account: {
      connect: "Associer {provider}",
      connected: "Vous pouvez maintenant vous connecter avec {provider}.",
      connectFailed: "La connexion avec {provider} n’a pas abouti. Rien n’a été modifié.",
      delete: "Supprimer mon compte",
      deleteConfirm: "Saisissez votre adresse e-mail pour confirmer",
      deleteForGood: "Supprimer définitivement mon compte",
      deleteTitle: "Supprimer votre compte",
      deleteWarning: {
        one: "Votre compte et tout ce qu’il contient seront supprimés. Cette action est irréversible. Si votre connexion date de plus de {count} minute, nous vous demanderons d’abord de vous reconnecter.",
        other:
          "Votre compte et tout ce qu’il contient seront supprimés. Cette action est irréversible. Si votre connexion date de plus de {count} minutes, nous vous demanderons d’abord de vous reconnecter.",
      },
      disconnect: "Dissocier",
      disconnectProvider: "Dissocier {provider}",
      disconnectWarning:
        "Vous vous connecterez uniquement avec votre mot de passe, et toutes les autres sessions seront fermées. La connexion avec {provider} ne fonctionnera plus tant que vous ne l’aurez pas associée de nouveau ici.",
      emailAndPassword: "Adresse e-mail et mot de passe",
      externalSignIn: "connexion externe",
      logOut: "Se déconnecter",
      mailPasswordLink: "Modifier le mot de passe par e-mail",
      name: "Nom",
      notConnected: "{provider} <muted>· non associé</muted>",
      onlyProvider:
        "Votre seul moyen de connexion : {provider}. Pour pouvoir le dissocier, définissez d’abord un mot de passe.",
      setPassword: "Définir un mot de passe par e-mail",
      waysIn: "Vos moyens de connexion",
    },
    sessions: {
      end: "Fermer cette session",
      endOthers: "Fermer toutes les autres sessions",
      lastSeen: "Dernière activité : <time>{moment}</time>",
      since: "Connexion : <time>{moment}</time>",
      thisBrowser: "ce navigateur",
      title: "Où vous êtes connecté",
    },
    deleted: {
      createNew: "Créer un nouveau compte",
      text: "Tout son contenu a disparu, et toutes ses sessions sont fermées.",
      title: "Votre compte a été supprimé",
    },
    errors: {
      goToStart: "Aller à la page d’accueil",
      openFormAgain: "Rouvrir le formulaire",
      text400: "Elle contient une erreur. Si elle vient d’un e-mail, copiez le lien en entier.",
      text403: "Pour votre sécurité, nous n’acceptons que les formulaires de nos propres pages.",
      text404: "Il n’y a aucune page à cette adresse.",
      text405: "La page ne peut pas être ouverte de cette façon.",
      text413: "Le formulaire dépassait la longueur autorisée.",
      text415: "Il a été envoyé sous une forme que nous ne pouvons pas lire.",
      text422: "Il en manquait une partie.",
      text429: "Attendez quelques minutes, puis réessayez.",
      text500: "L’erreur vient de nous, pas de vous. Réessayez dans un instant.",
      text503: "Nous ne pouvons pas répondre pour le moment. Rien n’a été perdu.",
      title400: "Cette adresse est illisible",
      title403: "Envoyé depuis un autre site",
      title404: "Page introuvable",
      title405: "Cela ne fonctionne pas ici",
      title413: "Texte trop long",
      title415: "Formulaire non compris",
      title422: "Formulaire non compris",
      title429: "Trop de tentatives",
      title500: "Une erreur s’est produite",
      title503: "De retour dans un instant",
      tryAgain: "Réessayer",
    },
  },

  answers: {
    form: {
      missing: "Ce champ est absent ou a été envoyé deux fois.",
    },
    link: {
      invalid: "Ce lien n’est pas valide ou a expiré.",
      invalidReset: "Ce lien de réinitialisation n’est pas valide ou a expiré.",
    },
    login: {
      tooMany: {
        one: "Trop de tentatives. Réessayez dans {count} minute, ou réinitialisez votre mot de passe.",
        other: "Trop de tentatives. Réessayez dans {count} minutes, ou réinitialisez votre mot de passe.",
      },
      wrong: "L’adresse e-mail ou le mot de passe est incorrect.",
    },
    password: {
      common: "Ce mot de passe fait partie des plus courants. Choisissez-en un autre.",
      isTheEmail: "Choisissez un mot de passe différent de votre adresse e-mail.",
      tooLong: {
        one: "Utilisez au plus {count} caractère.",
        other: "Utilisez au plus {count} caractères.",
      },
      tooShort: {
        one: "Utilisez au moins {count} caractère.",
        other: "Utilisez au moins {count} caractères.",
      },
      unconfirmed: "Les deux mots de passe ne sont pas identiques.",
    },
    account: {
      alreadyConnected: "Il est déjà associé.",
      chooseAction: "Choisissez une action.",
      disconnected: "La connexion externe a été dissociée, et toutes les autres sessions ont été fermées.",
      onlyWayIn: "Définissez d’abord un mot de passe : c’est votre seul moyen de connexion.",
      otherSessionsEnded: "Toutes les autres sessions ont été fermées.",
      passwordLinkSent: "Un lien pour définir le mot de passe est en route vers {email}.",
      sessionAlreadyEnded: "Cette session est déjà fermée.",
      sessionEnded: "La session a été fermée.",
      signInOff: "La connexion externe est désactivée.",
      tooManyLinks: {
        one: "Trop de liens ont été demandés. Réessayez dans {count} minute.",
        other: "Trop de liens ont été demandés. Réessayez dans {count} minutes.",
      },
      typeYourEmail: "Saisissez l’adresse e-mail de ce compte.",
    },
    browser: {
      onSystem: "{browser} sur {system}",
      unknown: "Navigateur inconnu",
      unknownOnSystem: "Navigateur inconnu sur {system}",
    },
    provider: {
      singleSignOn: "l’authentification unique",
    },
  },

  mails: {
    common: {
      anotherService: "un autre service",
      expiry: {
        one: "Ce lien expire dans {count} minute.",
        other: "Ce lien expire dans {count} minutes.",
      },
      ignore: "Si vous n’êtes pas à l’origine de cette demande, vous pouvez ignorer cet e-mail.",
      logIn: "Se connecter",
      resetPassword: "Réinitialiser le mot de passe",
      yourAccount: "Votre compte",
    },
    reset: {
      button: "Choisir un nouveau mot de passe",
      lead: "Réinitialisez votre mot de passe :",
      subject: "Réinitialisez votre mot de passe",
    },
    registration: {
      button: "Choisir un mot de passe",
      lead: "Terminez la création de votre compte :",
      subject: "Terminez la création de votre compte",
    },
    accountExists: {
      logInHere: "Vous pouvez vous connecter ici :",
      resetHere: "Si vous avez oublié le mot de passe, réinitialisez-le ici :",
      subject: "Vous avez déjà un compte",
      what: "Quelqu’un, probablement vous, a demandé à créer un compte avec cette adresse. Vous en avez déjà un.",
    },
    passwordChanged: {
      act: "Si ce n’était pas vous, réinitialisez votre mot de passe maintenant :",
      subject: "Votre mot de passe a été modifié",
      what: "Le mot de passe de votre compte a été modifié, et toutes les sessions ont été fermées.",
    },
    newSignIn: {
      act: "Si ce n’était pas vous, réinitialisez votre mot de passe, ce qui déconnecte tous les navigateurs :",
      check: "Connectez-vous ensuite et dissociez toute connexion externe que vous n’avez pas associée vous-même :",
      lead: "Quelqu’un, probablement vous, s’est connecté à votre compte avec son mot de passe, dans un navigateur encore inconnu :",
      subject: "Nouvelle connexion à votre compte",
      what: "{browser}, {moment}",
    },
    providerLinked: {
      act: "Si ce n’était pas vous, réinitialisez d’abord votre mot de passe, ce qui déconnecte tous les navigateurs :",
      remove:
        "Connectez-vous ensuite et dissociez {provider} sur la page de votre compte. Toute personne qui l’a utilisé entre-temps sera déconnectée, et {provider} ne pourra plus être associé sans vous :",
      subject: "La connexion avec {provider} a été ajoutée",
      what: "Vous pouvez maintenant vous connecter à votre compte avec {provider}.",
    },
    providerUnlinked: {
      act: "Si ce n’était pas vous, réinitialisez votre mot de passe, ce qui déconnecte tous les navigateurs :",
      again: "Connectez-vous ensuite. Vous pouvez associer de nouveau {provider} sur la page de votre compte :",
      subject: "La connexion avec {provider} a été supprimée",
      what: "La connexion à votre compte avec {provider} n’est plus possible, et tous les autres navigateurs ont été déconnectés.",
    },
    accountDeleted: {
      act: "Si ce n’était pas vous, quelqu’un a pu se connecter à votre compte : modifiez le mot de passe de votre messagerie et de tous les comptes qui utilisaient le même. Vous pouvez créer un nouveau compte ici :",
      button: "Créer un nouveau compte",
      subject: "Votre compte a été supprimé",
      what: "Votre compte et tout ce qu’il contenait ont été supprimés. Il ne peut pas être rétabli.",
    },
  },
};
