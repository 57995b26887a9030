<?php
// Arguments: the site's folder, its URL, the first post's number, how many, and `past` for posts of the years before.
require __DIR__ . '/load.php';
$words = explode( ' ', 'river stone morning letter window copper garden signal harbour winter engine paper bridge lantern' );
for ( $number = (int) $argv[3]; $number < (int) $argv[3] + (int) $argv[4]; $number++ ) {
	mt_srand( $number );
	$sentence = function () use ( $words ) {
		$said = array();
		for ( $at = 0; $at < 14; $at++ ) {
			$said[] = $words[ mt_rand( 0, count( $words ) - 1 ) ];
		}
		return ucfirst( implode( ' ', $said ) ) . '.';
	};
	$block   = array(
		"<!-- wp:heading -->\n<h2>" . $sentence() . "</h2>\n<!-- /wp:heading -->",
		"<!-- wp:list -->\n<ul><li>" . $sentence() . '</li><li>' . $sentence() . "</li></ul>\n<!-- /wp:list -->",
		"<!-- wp:quote -->\n<blockquote class=\"wp-block-quote\"><p>" . $sentence() . "</p><cite>Somebody</cite></blockquote>\n<!-- /wp:quote -->",
		"<!-- wp:code -->\n<pre class=\"wp-block-code\"><code>x = " . $number . ";</code></pre>\n<!-- /wp:code -->",
	);
	$content = '';
	for ( $paragraph = 0; $paragraph < 4; $paragraph++ ) {
		$content .= "<!-- wp:paragraph -->\n<p>" . $sentence() . ' ' . $sentence() . "</p>\n<!-- /wp:paragraph -->\n\n";
	}
	$content .= $block[ $number % 4 ];
	$id       = wp_insert_post(
		array(
			'post_title'   => 'Post ' . $number . ' on ' . $words[ $number % count( $words ) ],
			'post_content' => $content,
			'post_status'  => 'publish',
			'post_author'  => 1,
			'post_date'    => gmdate( 'Y-m-d H:i:s', 'past' === $argv[5] ? 1704099600 + 86400 * 3 * $number : time() ),
			'tags_input'   => array( $words[ $number % 5 ] ),
		),
		true
	);
	if ( is_wp_error( $id ) ) {
		fwrite( STDERR, $id->get_error_message() );
		exit( 1 );
	}
	for ( $comment = 0; $comment < $number % 3; $comment++ ) {
		wp_insert_comment(
			array(
				'comment_post_ID'  => $id,
				'comment_author'   => 'Reader ' . $comment,
				'comment_content'  => $sentence(),
				'comment_approved' => 1,
			)
		);
	}
}
